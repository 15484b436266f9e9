package io.carillon.internal.postgres.stats;

import io.carillon.Stats.RunStats;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.store.stats.DurationHistogram;
import io.carillon.internal.store.stats.StatsRow;
import io.carillon.internal.store.stats.StatsStore;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The tables {@code stats_minute} and {@code stats_hour}. */
public final class StatsRepository implements StatsStore {
    private static final int GROUP_SIZE = 500;
    /** The most rows that one statement removes. */
    private static final int CHUNK = 5_000;
    /** The hours that are computed again, because counts of their last minutes may arrive late. */
    private static final int RECENT_HOURS = 2;

    /** The suffix of the parameter with the sums of the durations. */
    private static final String MICROS = "Micros";

    private static final String COUNT_ARRAYS = Stream.of(RunStats.Count.values())
            .map(what -> ", :" + what.text() + "::int8[]")
            .collect(Collectors.joining());

    private static final String HISTOGRAM_ARRAYS = StatsColumns.HISTOGRAMS.stream()
            .map(name -> ", :" + name + MICROS + "::int8[], :" + name + "::text[]")
            .collect(Collectors.joining());

    // A histogram is passed as text, because an array of arrays cannot be unnested into arrays.
    private static final String WRITE = """
            INSERT INTO carillon.stats_minute AS old (recorder, minute, project, queue, target_name, version, %s)
            SELECT recorder, minute, project, queue, target_name, :version, %s
              FROM unnest(:recorders::uuid[], :minutes::timestamptz[], :projects::text[], :queues::text[],
                          :targets::text[]%s)
                AS e(recorder, minute, project, queue, target_name, %s)
             ORDER BY project, minute, queue, target_name, recorder
            ON CONFLICT (project, minute, queue, target_name, recorder) DO UPDATE
               SET version = excluded.version, %s
             WHERE old.version < excluded.version
            """.formatted(
                    StatsColumns.ALL,
                    castHistograms(),
                    COUNT_ARRAYS + HISTOGRAM_ARRAYS,
                    StatsColumns.ALL,
                    assignments(StatsColumns.ALL));

    // One node computes for the whole cluster.
    private static final String TRY_LOCK =
            "SELECT pg_try_advisory_xact_lock(hashtextextended('carillon.stats_hour', 0)) AS locked";

    // The hours that ended, if they are recent, or were not computed because no node was running. Minutes are looked up
    // by hour, so that the statement does not read all of them.
    private static final String HOURS_TO_COMPUTE = """
            SELECT ended.hour_at
              FROM generate_series(date_trunc('hour', carillon.clock(), 'UTC') - interval '47 hours',
                                   date_trunc('hour', carillon.clock(), 'UTC') - interval '1 hour',
                                   interval '1 hour') AS ended(hour_at)
             WHERE EXISTS (SELECT 1 FROM carillon.stats_minute m
                            WHERE m.minute >= ended.hour_at AND m.minute < ended.hour_at + interval '1 hour')
               AND (ended.hour_at >= date_trunc('hour', carillon.clock(), 'UTC') - make_interval(hours => :recent::int)
                    OR NOT EXISTS (SELECT 1 FROM carillon.stats_hour h WHERE h.hour = ended.hour_at))
             ORDER BY 1
            """;

    private static final String COMPUTE_HOUR =
            """
            INSERT INTO carillon.stats_hour (project, hour, queue, target_name, %s)
            SELECT project, :hour, queue, target_name, %s
              FROM carillon.stats_minute WHERE minute >= :hour AND minute < :hour + interval '1 hour'
             GROUP BY project, queue, target_name ORDER BY project, queue, target_name
            ON CONFLICT (project, hour, queue, target_name) DO UPDATE SET %s
            """.formatted(StatsColumns.ALL, StatsColumns.SUMS, assignments(StatsColumns.ALL));

    private static final String REMOVE_MINUTES = """
            DELETE FROM carillon.stats_minute WHERE (project, minute, queue, target_name, recorder) IN (
              SELECT project, minute, queue, target_name, recorder FROM carillon.stats_minute
               WHERE minute < carillon.clock() - make_interval(secs => :age)
               ORDER BY minute LIMIT :chunk FOR UPDATE SKIP LOCKED)
            """;

    private static final String REMOVE_HOURS = """
            DELETE FROM carillon.stats_hour WHERE (project, hour, queue, target_name) IN (
              SELECT project, hour, queue, target_name FROM carillon.stats_hour
               WHERE hour < carillon.clock() - make_interval(secs => :age)
               ORDER BY hour LIMIT :chunk FOR UPDATE SKIP LOCKED)
            """;

    private static final String RECENT = "SELECT " + StatsColumns.SUMS + "\n" + """
            FROM carillon.stats_minute
             WHERE minute >= carillon.clock() - make_interval(secs => :age) AND minute <= carillon.clock()
               AND queue = '%s'
            """.formatted(StatsRow.ALL);

    private final Database database;

    public StatsRepository(Database database) {
        this.database = database;
    }

    private static String castHistograms() {
        return Stream.of(StatsColumns.ALL.split(", "))
                .map(column -> StatsColumns.HISTOGRAMS.contains(column) ? column + "::int8[]" : column)
                .collect(Collectors.joining(", "));
    }

    private static String assignments(String columns) {
        return Stream.of(columns.split(", "))
                .map(column -> column + " = excluded." + column)
                .collect(Collectors.joining(", "));
    }

    @Override
    public void write(List<StatsRow> rows) {
        List<StatsRow> sorted = rows.stream()
                .sorted(Comparator.comparing((StatsRow row) -> row.key().minute())
                        .thenComparing(row -> row.key().project()))
                .toList();
        for (int from = 0; from < sorted.size(); from += GROUP_SIZE) {
            List<StatsRow> group = sorted.subList(from, Math.min(sorted.size(), from + GROUP_SIZE));
            database.single(session -> bind(session.query(WRITE), group).update());
        }
    }

    private static Query bind(Query query, List<StatsRow> rows) throws SQLException {
        query.number("version", rows.get(0).version())
                .column("recorders", "uuid", rows, row -> row.key().recorder())
                .column("minutes", "timestamptz", rows, row -> row.key().minute())
                .column("projects", "text", rows, row -> row.key().project())
                .column("queues", "text", rows, row -> row.key().queue())
                .column("targets", "text", rows, row -> row.key().target());
        for (RunStats.Count what : RunStats.Count.values())
            query.column(what.text(), "int8", rows, row -> row.count(what));
        bind(query, "lateness", rows, row -> row.durations().lateness());
        bind(query, "wait", rows, row -> row.durations().waitTime());
        return bind(query, "run", rows, row -> row.durations().runTime());
    }

    private static Query bind(
            Query query, String column, List<StatsRow> rows, Function<StatsRow, DurationHistogram> histogram)
            throws SQLException {
        return query.column(
                        column + MICROS,
                        "int8",
                        rows,
                        row -> histogram.apply(row).micros())
                .column(
                        column,
                        "text",
                        rows,
                        row -> histogram.apply(row).buckets().stream()
                                .map(String::valueOf)
                                .collect(Collectors.joining(",", "{", "}")));
    }

    @Override
    public int computeHours() {
        return database.transaction(session -> {
            if (!session.query(TRY_LOCK).first(row -> row.flag("locked")).orElse(false)) return 0;
            StatsReader.setPlanner(session);
            List<Instant> hours = session.queryWithNewPlan(HOURS_TO_COMPUTE)
                    .number("recent", RECENT_HOURS)
                    .list(row -> row.instant("hour_at"));
            for (Instant hour : hours)
                session.queryWithNewPlan(COMPUTE_HOUR).instant("hour", hour).update();
            return hours.size();
        });
    }

    @Override
    public int removeOlder(Duration minutes, Duration hours) {
        return removeAll(REMOVE_MINUTES, minutes) + removeAll(REMOVE_HOURS, hours);
    }

    private int removeAll(String sql, Duration age) {
        int all = 0;
        while (true) {
            int removed = database.single(session -> session.query(sql)
                    .seconds("age", age)
                    .number("chunk", CHUNK)
                    .update());
            all += removed;
            if (removed < CHUNK || Thread.currentThread().isInterrupted()) return all;
        }
    }

    @Override
    public RunStats read(String project, RunStats.Query query) {
        return database.transaction(session -> new StatsReader(session, project, query).read());
    }

    @Override
    public RunStats.Figures recent(Duration period) {
        return database.transaction(session -> recent(session, period));
    }

    private static RunStats.Figures recent(Session session, Duration period) throws SQLException {
        StatsReader.setPlanner(session);
        return session.queryWithNewPlan(RECENT)
                .seconds("age", period)
                .first(row ->
                        StatsReader.figures(period, StatsColumns.readCounts(row), StatsColumns.readDurations(row)))
                .orElseThrow();
    }
}
