package io.carillon.it.cluster;

import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.NodeConfig.Planning;
import io.carillon.testkit.History;
import io.carillon.testkit.HistoryEvent;
import io.carillon.testkit.HistoryRecorder;
import io.carillon.testkit.NodeProcess;
import io.carillon.testkit.QueryResult;
import io.carillon.testkit.TestDatabase;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Several node processes on one fresh database, and a client without a node that drives them. */
final class Cluster implements AutoCloseable {
    // An attempt whose node was killed counts until the kill; the next attempt starts later.
    private static final String MAX_CONCURRENT = """
            WITH span AS (
              SELECT s.at AS from_at, coalesce(d.at,
                (SELECT k.at FROM side_log k WHERE k.event = 'killed ' || s.node)) AS to_at
                FROM side_log s
                LEFT JOIN side_log d ON d.run = s.run AND d.attempt = s.attempt AND d.event = 'done'
               WHERE s.event = 'started' AND s.run = ANY (string_to_array(?, ',')))
            SELECT max(live) FROM (
              SELECT sum(step) OVER (ORDER BY at, step) AS live
                FROM (SELECT from_at AS at, 1 AS step FROM span UNION ALL SELECT to_at, -1 FROM span) steps) rescue
            """;

    /** Large enough for a node, and soon full. */
    private static final List<String> SMALL_HEAP = List.of("-Xmx96m");

    private final TestDatabase database = TestDatabase.migrated();
    private final Map<String, NodeProcess> nodes = new LinkedHashMap<>();
    private final HistoryRecorder recorder = HistoryRecorder.on(database);
    private final Duration heartbeatInterval;
    private final Duration deathTimeout;
    private final Planning planning;
    private int startedCount;
    final Carillon client;

    Cluster(Duration heartbeatInterval, Duration deathTimeout, int size) {
        this(heartbeatInterval, deathTimeout, size, Planning.EVERY_NODE);
    }

    Cluster(Duration heartbeatInterval, Duration deathTimeout, int size, Planning planning) {
        this.heartbeatInterval = heartbeatInterval;
        this.deathTimeout = deathTimeout;
        this.planning = planning;
        database.execute(ClusterNode.SIDE_LOG);
        client = Carillon.on(database.pool(6)).build();
        for (startedCount = 1; startedCount <= size; startedCount++) start("node-" + startedCount);
        nodes.forEach((name, node) -> node.awaitLine("ready", Duration.ofSeconds(60)));
    }

    NodeProcess start(String name) {
        NodeProcess node = NodeProcess.start(
                SMALL_HEAP,
                ClusterNode.class,
                database.jdbcUrl(),
                database.user(),
                database.password(),
                name,
                String.valueOf(heartbeatInterval.toMillis()),
                String.valueOf(deathTimeout.toMillis()),
                planning.name());
        nodes.put(name, node);
        return node;
    }

    NodeProcess node(String name) {
        return nodes.get(name);
    }

    TestDatabase database() {
        return database;
    }

    QueryResult query(String sql, Object... parameters) {
        return database.query(sql, parameters);
    }

    /** Kills a node and records the time. */
    void kill(String victim) {
        node(victim).kill();
        noteLoss(victim);
    }

    /** Freezes a node, long enough to be declared dead, and records the time. */
    void freeze(String victim) {
        node(victim).freeze();
        noteLoss(victim);
    }

    private void noteLoss(String victim) {
        query("INSERT INTO side_log (event, node) VALUES (?, ?) RETURNING 1", "killed " + victim, victim);
    }

    /** Starts a new node, with a new name, for each node that has died, and records the deaths. */
    void replaceDead() {
        List<String> dead = nodes.keySet().stream()
                .filter(name -> !nodes.get(name).isAlive())
                .toList();
        for (String name : dead) {
            noteLoss(name);
            nodes.remove(name);
            start("node-" + ++startedCount);
        }
    }

    /** Returns the events of all runs, from the tables and from the side log of the handlers. */
    History history() {
        return history(Duration.ofSeconds(30));
    }

    /** Returns the history; {@code late} is the allowed delay of a retry after its due time. */
    private History history(Duration late) {
        List<HistoryEvent> events = new ArrayList<>(recorder.events());
        for (List<String> row : query(
                        "SELECT run, attempt, node, extract(epoch FROM at) FROM side_log WHERE event = 'started'")
                .rows())
            events.add(new HistoryEvent(
                    row.get(0),
                    Integer.parseInt(row.get(1)),
                    row.get(2),
                    HistoryEvent.Kind.STARTED,
                    instant(row.get(3)),
                    ""));
        History history = History.of(events).expectRetries(ClusterNode.RETRY, late);
        for (List<String> row : query("SELECT node, extract(epoch FROM at) FROM side_log WHERE event LIKE 'killed %'")
                .rows()) history = history.nodeLost(row.get(0), instant(row.get(1)));
        return history;
    }

    /**
     * Like {@link #history()}, for clusters whose nodes die often or send no heartbeat without having died: each node
     * that was declared dead counts as lost, and a retry may be late, because an isolated run waits for an idle node.
     */
    History historyWithNodeDeaths() {
        History history = history(Duration.ofHours(1));
        for (List<String> row : query("SELECT name, extract(epoch FROM dead_at) FROM carillon.node"
                        + " WHERE dead_reason LIKE 'no heartbeat%'")
                .rows()) history = history.nodeLost(row.get(0), instant(row.get(1)));
        return history;
    }

    /**
     * Returns the history after the end of the test: all runs have ended, all nodes are healthy, and lost runs were
     * rescued in time.
     */
    History finalHistory(String... mayWait) {
        // A killed node may not be declared dead yet, and a node that just started may not have its LISTEN session yet.
        await("all live nodes listen").atMost(Duration.ofSeconds(15)).until(() -> listeningNodes() == liveNodes());
        Map<String, Instant> heartbeats = new LinkedHashMap<>();
        for (List<String> row : query(
                        "SELECT name, extract(epoch FROM heartbeat_at) FROM carillon.node WHERE dead_at IS NULL")
                .rows()) heartbeats.put(row.get(0), instant(row.get(1)));
        int listening = listeningNodes();
        Instant now =
                instant(query("SELECT extract(epoch FROM clock_timestamp())").text());
        return history()
                .expectRescueWithin(Duration.ofSeconds(15))
                .finalState(new History.FinalState(now, heartbeats, listening, 0, Set.of(mayWait)));
    }

    private int liveNodes() {
        return (int) query("SELECT count(*) FROM carillon.node WHERE dead_at IS NULL")
                .number();
    }

    private int listeningNodes() {
        return (int) query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND query = 'LISTEN carillon'")
                .number();
    }

    private static Instant instant(String epoch) {
        long micros = new BigDecimal(epoch).movePointRight(6).longValueExact();
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** Returns the largest number of these runs that executed at the same time. */
    long maxConcurrent(List<String> runs) {
        return query(MAX_CONCURRENT, String.join(",", runs)).number();
    }

    @Override
    public void close() {
        nodes.values().forEach(NodeProcess::close);
        client.close();
        database.close();
    }
}
