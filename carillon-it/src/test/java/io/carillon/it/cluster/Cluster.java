package io.carillon.it.cluster;

import io.carillon.Carillon;
import io.carillon.engine.EngineConfig.Planning;
import io.carillon.run.RunId;
import io.carillon.testkit.HistoryChecker;
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
import java.util.UUID;

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

    // Held by whom and since when, as the tables say; written down by the database itself, in the writer's transaction.
    private static final String RUN_EVENTS = """
            CREATE TABLE run_event (run uuid, attempt int, node uuid, kind text, detail text, at timestamptz DEFAULT clock_timestamp());
            CREATE FUNCTION note_run_event() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
              IF TG_OP = 'DELETE' THEN
                INSERT INTO run_event VALUES (OLD.id, OLD.attempt, OLD.owner, 'ENDED', CASE WHEN OLD.owner IS NULL THEN '' ELSE 'succeeded' END);
              ELSIF NEW.owner IS NOT NULL AND NEW.attempt <> OLD.attempt THEN
                INSERT INTO run_event VALUES (NEW.id, NEW.attempt, NEW.owner, 'LEASED', '');
              ELSIF NEW.owner IS NULL AND OLD.owner IS NOT NULL THEN
                INSERT INTO run_event VALUES (OLD.id, OLD.attempt, OLD.owner, 'LET_GO', '');
              END IF;
              RETURN NULL;
            END $$;
            CREATE TRIGGER note AFTER UPDATE OR DELETE ON carillon.run FOR EACH ROW EXECUTE FUNCTION note_run_event();
            """;

    private final TestDatabase database = TestDatabase.migrated();
    private final Map<String, NodeProcess> nodes = new LinkedHashMap<>();
    private final Duration beat;
    private final Duration death;
    private final Planning planning;
    final Carillon client;

    Cluster(Duration beat, Duration death, int size) {
        this(beat, death, size, Planning.EVERY_NODE);
    }

    Cluster(Duration beat, Duration death, int size, Planning planning) {
        this.beat = beat;
        this.death = death;
        this.planning = planning;
        database.execute(ClusterNode.SIDE_LOG);
        database.execute(RUN_EVENTS);
        client = Carillon.on(database.pool(6)).build();
        for (int i = 1; i <= size; i++) start("node-" + i);
        nodes.forEach((name, node) -> node.awaitLine("ready", Duration.ofSeconds(60)));
    }

    NodeProcess start(String name) {
        NodeProcess node = NodeProcess.start(
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
        rows("INSERT INTO side_log (event, node) VALUES (?, ?) RETURNING 1", "killed " + victim, victim);
    }

    /** What happened to all runs: what the tables say, and what the handlers wrote down themselves. */
    HistoryChecker history() {
        List<RunEvent> events = new ArrayList<>();
        for (List<String> row : rows("""
                SELECT e.run, e.attempt, coalesce(n.name, ''), e.kind, extract(epoch FROM e.at), e.detail
                  FROM run_event e LEFT JOIN carillon.node n ON n.id = e.node
                """)) events.add(event(new RunId(UUID.fromString(row.get(0))).toString(), row));
        for (List<String> row : rows(
                "SELECT run, attempt, node, 'STARTED', extract(epoch FROM at), '' FROM side_log WHERE event = 'started'"))
            events.add(event(row.get(0), row));
        return new HistoryChecker(events);
    }

    private static RunEvent event(String run, List<String> row) {
        long micros = new BigDecimal(row.get(4)).movePointRight(6).longValueExact();
        return new RunEvent(
                run,
                Integer.parseInt(row.get(1)),
                row.get(2),
                RunEvent.Kind.valueOf(row.get(3)),
                Instant.EPOCH.plus(micros, ChronoUnit.MICROS),
                row.get(5));
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
