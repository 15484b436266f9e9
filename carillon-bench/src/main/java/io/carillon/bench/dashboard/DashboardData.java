package io.carillon.bench.dashboard;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.Progress;
import io.carillon.bench.ours.BenchPayload;
import io.carillon.bench.ours.CarillonDrain;
import io.carillon.bench.ours.CarillonSchedules;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.Sql;
import io.carillon.schedule.When;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/**
 * A project with a long history: schedules that fire once a day, their runs of the last ten days, queues with waiting
 * runs, dead runs, statistics and an audit log. All rows are made inside the database.
 */
public final class DashboardData {
    /** The days of history: each schedule has one run a day. */
    static final int DAYS = 10;

    private static final String PARTITIONS = """
            DO $$
            DECLARE v_day date;
            BEGIN
              FOR v_day IN SELECT generate_series(current_date - 12, current_date - 1, interval '1 day')::date LOOP
                EXECUTE format('CREATE TABLE IF NOT EXISTS carillon.run_history_%s PARTITION OF carillon.run_history
                  FOR VALUES FROM (%L) TO (%L)', to_char(v_day, 'YYYYMMDD'), v_day, v_day + 1);
                EXECUTE format('CREATE TABLE IF NOT EXISTS carillon.attempt_%s PARTITION OF carillon.attempt
                  FOR VALUES FROM (%L) TO (%L)', to_char(v_day, 'YYYYMMDD'), v_day, v_day + 1);
              END LOOP;
            END $$
            """;

    private static final String QUEUES = """
            UPDATE carillon.schedule
               SET queue = 'queue-' || lpad((substr(name, 2)::int %% %d)::text, 4, '0'),
                   target_name = 'handler-' || substr(name, 2)::int %% 200
            """;

    /** Of a thousand runs, ten died and five were cancelled. */
    private static final String HISTORY = """
            INSERT INTO carillon.run_history (project, id, day, queue, priority, node_deaths, crashes, attempt,
              failures, due_at, planned_at, started_at, ended_at, created_at, schedule_id, state, origin, target,
              target_name, reason)
            SELECT s.project, uuidv7(t.at - carillon.clock()), (t.at AT TIME ZONE 'UTC')::date, s.queue, s.priority, 0,
                   0, 1, 0, t.at, t.at, t.at + interval '40 ms', t.at + interval '90 ms', t.at - interval '2 minutes',
                   s.id, t.state, 'tick', s.target, s.target_name,
                   CASE t.state WHEN 'dead' THEN 'java.net.ConnectException: connection to host-' || t.draw
                     || ' refused'
                                WHEN 'cancelled' THEN 'cancelled by hand' END
              FROM carillon.schedule s,
                   LATERAL (SELECT s.anchor - interval '1 day' * %1$d AS at,
                                   (substr(s.name, 2)::int * 7919 + %1$d) %% 1000 AS draw) d,
                   LATERAL (SELECT d.at, d.draw, CASE WHEN d.draw < 10 THEN 'dead' WHEN d.draw < 15 THEN 'cancelled'
                                   ELSE 'succeeded' END AS state) t
            """;

    private static final String DEAD = """
            INSERT INTO carillon.dead_run (project, id, state, queue, priority, attempt, failures, crashes, due_at,
              planned_at, schedule_id, origin, target, target_name, codec, payload, error, died_at)
            SELECT project, id, state, queue, priority, attempt, failures, crashes, due_at, planned_at, schedule_id,
                   origin, target, target_name, 'json', '{}', reason, ended_at
              FROM carillon.run_history WHERE state = 'dead'
            """;

    private static final String WAITING = """
            INSERT INTO carillon.run (project, id, queue, priority, due_at, ready_at, day, origin, target, target_name,
              codec, payload)
            SELECT 'default', uuidv7(), 'queue-' || lpad((n %% %1$d)::text, 4, '0'), 1, at, at,
                   (at AT TIME ZONE 'UTC')::date, 'direct', 'handler', 'handler-' || n %% 200, 'json', '{}'
              FROM generate_series(1, %2$d) n, LATERAL (SELECT carillon.clock() + interval '2 days') t(at)
            """;

    private static final String LIMITS = """
            INSERT INTO carillon.lane (queue, project, max_running)
            SELECT 'queue-' || lpad(n::text, 4, '0'), 'default', 10 FROM generate_series(0, %d - 1, 10) n
            """;

    private static final String STATS_COLUMNS = """
            started, succeeded, dead, cancelled, quarantined, skipped, missed, retried, rescued, redriven,
            lateness_micros, lateness, wait_micros, wait, run_micros, run)
            """;

    private static final String STATS_VALUES = """
            60, 58, 1, 0, 0, 0, 0, 1, 0, 0, 2400000, h, 600000, h, 3000000, h
              FROM generate_series(0, %1$d - 1) q, (SELECT array_fill(2, ARRAY[30]) AS h) histogram,
            """;

    private static final String MINUTES = "INSERT INTO carillon.stats_minute (project, minute, queue, target_name, "
            + "recorder, version, " + STATS_COLUMNS
            + "SELECT 'default', m, 'queue-' || lpad(q::text, 4, '0'), 'handler-' || q %% 200, "
            + "'00000000-0000-7000-8000-000000000001', 1, " + STATS_VALUES
            + "generate_series(date_trunc('minute', carillon.clock()) - interval '%2$d minutes', "
            + "date_trunc('minute', carillon.clock()) - interval '1 minute', interval '1 minute') m";

    private static final String HOURS = "INSERT INTO carillon.stats_hour (project, hour, queue, target_name, "
            + STATS_COLUMNS + "SELECT 'default', m, 'queue-' || lpad(q::text, 4, '0'), 'handler-' || q %% 200, "
            + STATS_VALUES + "generate_series(date_trunc('hour', carillon.clock()) - interval '%2$d hours', "
            + "date_trunc('hour', carillon.clock()) - interval '1 hour', interval '1 hour') m";

    private static final String AUDIT = """
            INSERT INTO carillon.audit (project, id, at, actor, action, object, request_id)
            SELECT 'default', uuidv7(-age), carillon.clock() - age, 'key k' || n %% 20, 'schedule.put',
                   'schedule/s' || n, 'none'
              FROM generate_series(1, %d) n, LATERAL (SELECT n * interval '8 seconds' AS age) a
            """;

    private DashboardData() {}

    /**
     * The number of rows.
     *
     * @param schedules of which each has ten runs in the history
     * @param statsHours the hours with statistics
     */
    public record Size(int schedules, int queues, int waiting, int statsHours) {}

    static void store(BenchDatabase database, Size size, Progress progress) throws SQLException {
        try (HikariDataSource pool = database.pool(CarillonDrain.POOL);
                Carillon client = Carillon.on(pool)
                        .handle(BenchPayload.TYPE, (benchPayload, run) -> {})
                        .build()) {
            Sql sql = new Sql(pool);
            progress.report("storing %,d schedules".formatted(size.schedules));
            // They fire evenly over the day, the first one in an hour: no tick is planned while pages are measured.
            Instant first = now(sql).plus(1, ChronoUnit.HOURS);
            When daily = When.every(86_400, ChronoUnit.SECONDS, first.atZone(ZoneOffset.UTC));
            CarillonSchedules.store(
                    database,
                    client,
                    new CarillonSchedules.Copies("s", size.schedules, daily, first, 80_000_000_000L / size.schedules));
            sql.execute(QUEUES.formatted(size.queues));
            sql.execute(PARTITIONS);
            for (int day = 1; day <= DAYS; day++) {
                progress.report("storing %,d runs in the history".formatted((long) day * size.schedules));
                sql.execute(HISTORY.formatted(day));
            }
            sql.execute(DEAD);
            progress.report("storing statistics, waiting runs and an audit log");
            sql.execute(WAITING.formatted(size.queues, size.waiting));
            sql.execute(LIMITS.formatted(size.queues));
            sql.execute(MINUTES.formatted(size.queues, Math.min(size.statsHours, 7) * 60));
            sql.execute(HOURS.formatted(size.queues, size.statsHours));
            sql.execute(AUDIT.formatted(size.waiting));
        }
        progress.report("vacuum");
        database.vacuum();
    }

    private static Instant now(Sql sql) {
        return Instant.ofEpochSecond(sql.number("SELECT extract(epoch FROM carillon.clock())"));
    }
}
