package io.carillon.postgres.vitals;

import io.carillon.run.Lane;
import io.carillon.store.DatabaseVitals;
import io.carillon.store.VitalsStore;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The state of the system, read in a few queries, each bounded by an index or a limit. They use a connection of the
 * pool, so that an exhausted pool is noticed.
 */
public final class VitalsRepository implements VitalsStore {
    private static final int TIMEOUT_SECONDS = 10;

    static final String JIT = """
            CASE WHEN current_setting('jit')::bool AND current_setting('jit_above_cost')::float8 >= 0
                 THEN current_setting('jit_above_cost')::float8 END AS jit
            """;

    // A missed instant is a row of the history if a tick existed, and part of a ledger gap if none did.
    private static final String MISSED = """
            (SELECT project, schedule_id, count AS instants FROM carillon.ledger_gap
              WHERE state = 'missed' AND created_at > carillon.clock() - interval '1 hour'
             UNION ALL
             SELECT project, schedule_id, 1 FROM carillon.run_history
              WHERE state = 'missed' AND ended_at > carillon.clock() - interval '1 hour') missed
            """;

    // Paused lanes wait on purpose. Of long-running runs only parked rows are read: there are few, and they have an
    // index.
    private static final String READ = """
            SELECT carillon.clock() AS now,\s""" + JIT + """
                   , (SELECT min(head.ready_at)
                      FROM (SELECT queue, project, ready_at, owner FROM carillon.run
                             WHERE ready_at < 'infinity' ORDER BY ready_at LIMIT 1000) head
                     WHERE head.owner IS NULL
                       AND NOT EXISTS (SELECT 1 FROM carillon.lane l
                                        WHERE l.queue = head.queue AND l.project = head.project AND l.paused_at IS NOT NULL)) AS oldest_due,
                   (SELECT coalesce(sum(instants), 0) FROM\s""" + MISSED + """
                   ) AS missed,
                   (SELECT count(*) FROM carillon.run
                     WHERE leased_until IS NOT NULL AND leased_until < carillon.clock() - interval '30 seconds')
                   + (SELECT count(*) FROM carillon.run r
                       WHERE r.parked = 'running' AND r.leased_until IS NULL
                         AND NOT EXISTS (SELECT 1 FROM carillon.node n
                                          WHERE n.id = r.owner AND n.dead_at IS NULL
                                            AND n.beat_at > carillon.clock() - interval '1 minute')) AS stalled
            """;

    private static final String MISSED_BY_SCHEDULE =
            "SELECT s.name, sum(missed.instants) AS instants FROM " + MISSED + """
              JOIN carillon.schedule s ON s.project = missed.project AND s.id = missed.schedule_id
             GROUP BY s.name HAVING sum(missed.instants) >= 3 ORDER BY 2 DESC, 1 LIMIT 5
            """;

    // The transactions that hold a snapshot or a transaction id: only these keep VACUUM from removing rows.
    private static final String OLD_TRANSACTION = """
            SELECT pid, coalesce(usename, '') AS usename, coalesce(application_name, '') AS application_name, coalesce(state, '') AS state,
                   extract(epoch FROM carillon.clock() - xact_start) AS age, left(query, 80) AS query
              FROM pg_stat_activity
             WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
               AND backend_type = 'client backend' AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
             ORDER BY xact_start LIMIT 1
            """;

    private static final String BROKEN_LANES =
            "SELECT queue, project FROM carillon.lane WHERE breaker <> 'closed' ORDER BY queue, project LIMIT 100";

    private static final String QUEUES = """
            SELECT queue, count(*) AS due, extract(epoch FROM carillon.clock() - min(ready_at)) AS oldest
              FROM (SELECT queue, ready_at, owner FROM carillon.run
                     WHERE ready_at < 'infinity' AND ready_at <= carillon.clock() ORDER BY ready_at LIMIT 10000) head
             WHERE owner IS NULL GROUP BY queue ORDER BY queue
            """;

    private static final String SCHEDULES = """
            SELECT CASE WHEN s.project = 'default' THEN s.name ELSE s.project || '/' || s.name END AS name, s.paused_at IS NOT NULL AS paused,
                   coalesce(tick.planned_at, CASE WHEN isfinite(s.next_at) THEN s.next_at END) AS next_at,
                   greatest(0, extract(epoch FROM carillon.clock() - tick.due_at)) AS lag, success.ended_at AS last_success
              FROM (SELECT * FROM carillon.schedule ORDER BY project, name LIMIT 100) s
              LEFT JOIN LATERAL (SELECT r.planned_at, r.due_at FROM carillon.run r
                                  WHERE r.schedule_id = s.id AND r.origin IN ('tick', 'backfill') AND r.owner IS NULL
                                  ORDER BY r.planned_at LIMIT 1) tick ON true
              LEFT JOIN LATERAL (SELECT h.ended_at FROM carillon.run_history h
                                  WHERE h.schedule_id = s.id AND h.origin IN ('tick', 'backfill') AND h.state = 'succeeded'
                                  ORDER BY h.planned_at DESC LIMIT 1) success ON true
            """;

    private static final String COUNTS =
            "SELECT count(*) AS schedules, count(*) FILTER (WHERE paused_at IS NULL) AS active FROM carillon.schedule";

    private final DataSource source;

    public VitalsRepository(DataSource source) {
        this.source = source;
    }

    @Override
    public DatabaseVitals read() {
        long asked = System.nanoTime();
        return withConnection(connection -> {
            Duration borrowed = Duration.ofNanos(System.nanoTime() - asked);
            Map<String, Long> missing = new LinkedHashMap<>();
            rows(connection, MISSED_BY_SCHEDULE, row -> missing.put(row.getString("name"), row.getLong("instants")));
            List<DatabaseVitals.OldTransaction> old = rows(
                    connection,
                    OLD_TRANSACTION,
                    row -> new DatabaseVitals.OldTransaction(
                            row.getLong("pid"),
                            row.getString("usename"),
                            row.getString("application_name"),
                            row.getString("state"),
                            seconds(row, "age"),
                            row.getString("query")));
            List<Lane> broken =
                    rows(connection, BROKEN_LANES, row -> new Lane(row.getString("queue"), row.getString("project")));
            return rows(
                            connection,
                            READ,
                            row -> new DatabaseVitals(
                                    row.getTimestamp("now").toInstant(),
                                    instant(row, "oldest_due"),
                                    row.getLong("missed"),
                                    missing,
                                    row.getLong("stalled"),
                                    broken,
                                    old.isEmpty() ? null : old.get(0),
                                    borrowed,
                                    row.getObject("jit", Double.class)))
                    .get(0);
        });
    }

    @Override
    public DatabaseVitals.Figures figures() {
        return withConnection(connection -> {
            List<DatabaseVitals.QueueVitals> queues = rows(
                    connection,
                    QUEUES,
                    row -> new DatabaseVitals.QueueVitals(
                            row.getString("queue"), row.getLong("due"), seconds(row, "oldest")));
            List<DatabaseVitals.ScheduleVitals> schedules = rows(
                    connection,
                    SCHEDULES,
                    row -> new DatabaseVitals.ScheduleVitals(
                            row.getString("name"),
                            row.getBoolean("paused"),
                            instant(row, "next_at"),
                            seconds(row, "lag"),
                            instant(row, "last_success")));
            return rows(
                            connection,
                            COUNTS,
                            row -> new DatabaseVitals.Figures(
                                    queues, schedules, row.getLong("schedules"), row.getLong("active")))
                    .get(0);
        });
    }

    private interface ConnectionReader<T> {
        T read(Connection connection) throws SQLException;
    }

    private interface ResultSetMapper<T> {
        T map(ResultSet row) throws SQLException;
    }

    private <T> T withConnection(ConnectionReader<T> connectionReader) {
        try (Connection connection = source.getConnection()) {
            boolean before = connection.getAutoCommit();
            int networkTimeout = connection.getNetworkTimeout();
            if (!before) connection.setAutoCommit(true);
            connection.setNetworkTimeout(Runnable::run, (TIMEOUT_SECONDS + 5) * 1000);
            try {
                return connectionReader.read(connection);
            } finally {
                if (!connection.isClosed()) {
                    connection.setNetworkTimeout(Runnable::run, networkTimeout);
                    if (!before) connection.setAutoCommit(false);
                }
            }
        } catch (SQLException failure) {
            throw new CarillonException(
                    ErrorCode.STORAGE, "Could not read system statistics: " + failure.getMessage(), failure);
        }
    }

    private static <T> List<T> rows(Connection connection, String sql, ResultSetMapper<T> resultSetMapper)
            throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(TIMEOUT_SECONDS);
            List<T> all = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery(sql)) {
                while (rows.next()) all.add(resultSetMapper.map(rows));
            }
            return all;
        }
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        Timestamp at = row.getTimestamp(column);
        return at == null ? null : at.toInstant();
    }

    private static Duration seconds(ResultSet row, String column) throws SQLException {
        return Duration.ofMillis((long) (row.getDouble(column) * 1000));
    }
}
