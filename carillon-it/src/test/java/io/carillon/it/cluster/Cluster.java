package io.carillon.it.cluster;

import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.engine.EngineConfig.Planning;
import io.carillon.testkit.History;
import io.carillon.testkit.HistoryRecorder;
import io.carillon.testkit.NodeProcess;
import io.carillon.testkit.RunEvent;
import io.carillon.testkit.TestDatabase;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Three node processes on one fresh database, and a client without a node to drive them. */
final class Cluster implements AutoCloseable {
    // An attempt whose node was killed worked until then, and nobody after it: the next attempt begins later.
    private static final String MOST_AT_ONCE = """
            WITH span AS (
              SELECT s.at AS from_at, coalesce(d.at, (SELECT k.at FROM side_log k WHERE k.event = 'killed ' || s.node)) AS to_at
                FROM side_log s
                LEFT JOIN side_log d ON d.run = s.run AND d.attempt = s.attempt AND d.event = 'done'
               WHERE s.event = 'started' AND s.run = ANY (string_to_array(?, ',')))
            SELECT max(live) FROM (
              SELECT sum(step) OVER (ORDER BY at, step) AS live
                FROM (SELECT from_at AS at, 1 AS step FROM span UNION ALL SELECT to_at, -1 FROM span) steps) sweep
            """;

    /** Enough for a node, and soon full. */
    private static final List<String> SMALL_HEAP = List.of("-Xmx96m");

    private final TestDatabase database = TestDatabase.migrated();
    private final Map<String, NodeProcess> nodes = new LinkedHashMap<>();
    private final HistoryRecorder recorder = HistoryRecorder.on(database);
    private final Duration beat;
    private final Duration death;
    private final Planning planning;
    private int born;
    final Carillon client;

    Cluster(Duration beat, Duration death, int size) {
        this(beat, death, size, Planning.EVERY_NODE);
    }

    Cluster(Duration beat, Duration death, int size, Planning planning) {
        this.beat = beat;
        this.death = death;
        this.planning = planning;
        database.execute(ClusterNode.SIDE_LOG);
        client = Carillon.on(database.pool(6)).build();
        for (born = 1; born <= size; born++) start("node-" + born);
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
                String.valueOf(beat.toMillis()),
                String.valueOf(death.toMillis()),
                planning.name());
        nodes.put(name, node);
        return node;
    }

    NodeProcess node(String name) {
        return nodes.get(name);
    }

    void execute(String sql) {
        database.execute(sql);
    }

    /** Rows of a query, each as its columns' text. */
    List<List<String>> rows(String sql, String... parameters) {
        try (Connection connection = database.dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) statement.setString(i + 1, parameters[i]);
            try (ResultSet rows = statement.executeQuery()) {
                List<List<String>> all = new ArrayList<>();
                while (rows.next()) {
                    List<String> row = new ArrayList<>();
                    for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) row.add(rows.getString(i));
                    all.add(row);
                }
                return all;
            }
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** Kills a node, and notes when. */
    void kill(String victim) {
        node(victim).kill9();
        noteLoss(victim);
    }

    /** Freezes a node for long enough to be taken for dead, and notes when. */
    void freeze(String victim) {
        node(victim).stop();
        noteLoss(victim);
    }

    private void noteLoss(String victim) {
        rows("INSERT INTO side_log (event, node) VALUES (?, ?) RETURNING 1", "killed " + victim, victim);
    }

    /** Starts a node for each that has died by itself, under a name of its own, and notes the deaths. */
    void replaceDead() {
        List<String> dead =
                nodes.keySet().stream().filter(name -> !nodes.get(name).alive()).toList();
        for (String name : dead) {
            noteLoss(name);
            nodes.remove(name);
            start("node-" + ++born);
        }
    }

    /** What happened to all runs: what the tables say, and what the handlers wrote down themselves. */
    History history() {
        return history(Duration.ofSeconds(30));
    }

    /** {@code late}: how much later than its pause says a run may be tried again. */
    private History history(Duration late) {
        List<RunEvent> events = new ArrayList<>(recorder.events());
        for (List<String> row :
                rows("SELECT run, attempt, node, extract(epoch FROM at) FROM side_log WHERE event = 'started'"))
            events.add(new RunEvent(
                    row.get(0),
                    Integer.parseInt(row.get(1)),
                    row.get(2),
                    RunEvent.Kind.STARTED,
                    instant(row.get(3)),
                    ""));
        History history = History.of(events).retried(ClusterNode.RETRY, late);
        for (List<String> row : rows("SELECT node, extract(epoch FROM at) FROM side_log WHERE event LIKE 'killed %'"))
            history = history.lost(row.get(0), instant(row.get(1)));
        return history;
    }

    /**
     * The same where nodes die all the time, or fall silent without having died: who was declared dead counts as lost, and a run is tried again when a node
     * lives that has nobody accused to itself, however late that is.
     */
    History historyAmongDeaths() {
        History history = history(Duration.ofHours(1));
        for (List<String> row :
                rows("SELECT name, extract(epoch FROM dead_at) FROM carillon.node WHERE dead_why LIKE 'no beat%'"))
            history = history.lost(row.get(0), instant(row.get(1)));
        return history;
    }

    /** The same when all is over: everything has ended, every node is well, and what was lost was taken over in time. */
    History quietHistory(String... mayWait) {
        // Who was killed is not dead yet, and who was started last may still be opening its ears.
        await("all living nodes listen").atMost(Duration.ofSeconds(15)).until(() -> listening() == living());
        Map<String, Instant> beats = new LinkedHashMap<>();
        for (List<String> row :
                rows("SELECT name, extract(epoch FROM beat_at) FROM carillon.node WHERE dead_at IS NULL"))
            beats.put(row.get(0), instant(row.get(1)));
        int listening = listening();
        Instant now = instant(one("SELECT extract(epoch FROM clock_timestamp())"));
        return history()
                .rescued(Duration.ofSeconds(15))
                .quiet(new History.Quiet(now, beats, listening, 0, Set.of(mayWait)));
    }

    private int living() {
        return (int) number("SELECT count(*) FROM carillon.node WHERE dead_at IS NULL");
    }

    private int listening() {
        return (int)
                number(
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN carillon'");
    }

    private static Instant instant(String epoch) {
        long micros = new BigDecimal(epoch).movePointRight(6).longValueExact();
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    /** How many of these runs were at work at the same moment, at most. */
    long mostAtOnce(List<String> runs) {
        return number(MOST_AT_ONCE, String.join(",", runs));
    }

    String one(String sql, String... parameters) {
        return rows(sql, parameters).get(0).get(0);
    }

    long number(String sql, String... parameters) {
        return Long.parseLong(one(sql, parameters));
    }

    @Override
    public void close() {
        nodes.values().forEach(NodeProcess::close);
        client.close();
        database.close();
    }
}
