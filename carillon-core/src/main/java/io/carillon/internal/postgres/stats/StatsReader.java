package io.carillon.internal.postgres.stats;

import io.carillon.Stats.RunStats;
import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.store.stats.DurationHistogram;
import io.carillon.internal.store.stats.StatsRow;
import io.carillon.internal.value.Names;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the statistics of one query in one transaction. Ranges of up to six hours are read from the minutes. Longer
 * ones are read from the hours, and from the minutes where the hours are not computed yet.
 */
final class StatsReader {
    private static final String NOW = "SELECT carillon.clock() AS now";

    private static final String COMPUTED_UNTIL =
            "SELECT max(hour) + interval '1 hour' AS computed FROM carillon.stats_hour WHERE project = :project";

    // With so many sums, the compilation would take longer than the execution. The groups need more memory than a sort
    // of PostgreSQL has by default.
    private static final String SET_PLANNER = """
            SELECT set_config('jit', 'off', true), set_config('max_parallel_workers_per_gather', '0', true),
                   set_config('work_mem', '32MB', true)
            """;

    private static final String CONDITION = """
             WHERE project = :project AND %1$s >= :%2$s AND %1$s < :%3$s
               AND %4$s
            """;

    /** The sums of a project, which have an index of their own. */
    private static final String OF_PROJECT = "queue = '" + StatsRow.ALL + "'";

    private static final String OF_SERIES = """
            queue <> '%s' AND (:queue::text IS NULL OR queue = :queue)
               AND (:handler::text IS NULL OR target_name = :handler)
            """.formatted(StatsRow.ALL);

    private static String rows(String condition) {
        return """
            (SELECT minute AS at, queue, target_name, %1$s FROM carillon.stats_minute %2$s
             UNION ALL
             SELECT hour, queue, target_name, %1$s FROM carillon.stats_hour %3$s) counted
            """.formatted(
                        StatsColumns.ALL,
                        CONDITION.formatted("minute", "minutesFrom", "to", condition),
                        CONDITION.formatted("hour", "from", "minutesFrom", condition));
    }

    private static final String ENDED = "sum(succeeded + dead + cancelled + quarantined)";

    private static final String TOP_GROUPS =
            "SELECT %s AS name FROM " + rows(OF_SERIES) + " GROUP BY 1 ORDER BY " + ENDED + " DESC, 1 LIMIT :limit";

    private static final String FIGURES = "SELECT floor(extract(epoch FROM at - :from) / :step)::bigint AS point, "
            + "CASE WHEN %1$s = ANY (:names::text[]) THEN %1$s END AS name, " + StatsColumns.SUMS + " FROM "
            + rows(OF_SERIES) + " GROUP BY 1, 2";

    private static final String FIGURES_OF_PROJECT =
            "SELECT floor(extract(epoch FROM at - :from) / :step)::bigint AS point, NULL::text AS name, "
                    + StatsColumns.SUMS + " FROM " + rows(OF_PROJECT) + " GROUP BY 1";

    private static final String QUEUE = "'queue:' || queue";

    /** Webhooks to an endpoint have the queue of the endpoint. */
    private static final String TARGET = "CASE WHEN starts_with(queue, '" + Names.ENDPOINT_QUEUE_PREFIX
            + "') THEN 'endpoint:' || substr(queue, " + (Names.ENDPOINT_QUEUE_PREFIX.length() + 1)
            + ") ELSE 'handler:' || target_name END";

    private static final List<Count> OUTCOMES =
            List.of(Count.SUCCEEDED, Count.DEAD, Count.CANCELLED, Count.QUARANTINED, Count.SKIPPED, Count.MISSED);

    private final Session session;
    private final String project;
    private final RunStats.Query query;

    StatsReader(Session session, String project, RunStats.Query query) {
        this.session = session;
        this.project = project;
        this.query = query;
    }

    /** Sets what the planner needs for sums of many columns, until the end of the transaction. */
    static void setPlanner(Session session) throws SQLException {
        session.query(SET_PLANNER).list(row -> row);
    }

    /** The sums of one point and group; the name is null if the group is not listed. */
    private record Sum(long point, @Nullable String name, Map<Count, Long> counts, StatsRow.Durations durations) {
        private static final Sum NONE = new Sum(
                0,
                null,
                Map.of(),
                new StatsRow.Durations(DurationHistogram.EMPTY, DurationHistogram.EMPTY, DurationHistogram.EMPTY));

        static Sum read(Row row) throws SQLException {
            return new Sum(
                    row.number("point"),
                    row.maybeText("name"),
                    StatsColumns.readCounts(row),
                    StatsColumns.readDurations(row));
        }

        Sum plus(Sum other) {
            Map<Count, Long> sum = new EnumMap<>(Count.class);
            sum.putAll(counts);
            other.counts.forEach((what, number) -> sum.merge(what, number, Long::sum));
            return new Sum(
                    point,
                    name,
                    sum,
                    new StatsRow.Durations(
                            durations.lateness().plus(other.durations.lateness()),
                            durations.waitTime().plus(other.durations.waitTime()),
                            durations.runTime().plus(other.durations.runTime())));
        }

        RunStats.Figures figures(Duration period) {
            return StatsReader.figures(period, counts, durations);
        }
    }

    static RunStats.Figures figures(Duration period, Map<Count, Long> counts, StatsRow.Durations durations) {
        return new RunStats.Figures(
                period,
                counts,
                durations.lateness().times(),
                durations.waitTime().times(),
                durations.runTime().times());
    }

    RunStats read() throws SQLException {
        setPlanner(session);
        Instant now = session.query(NOW).first(row -> row.instant("now")).orElseThrow();
        StatsRange range = StatsRange.of(query, now);
        Instant minutesFrom = range.hourly() ? computedUntil(range) : range.from();
        boolean grouped = query.by() == RunStats.Grouping.QUEUE || query.by() == RunStats.Grouping.TARGET;
        List<String> names = grouped ? topGroups(range, minutesFrom) : List.of();
        boolean ofProject = !grouped && query.queue() == null && query.handler() == null;
        Query figures = ofProject
                ? bindRange(session.queryWithNewPlan(FIGURES_OF_PROJECT), range, minutesFrom)
                : bind(session.queryWithNewPlan(FIGURES.formatted(grouping())), range, minutesFrom)
                        .texts("names", names);
        List<Sum> sums = figures.number(
                        "step",
                        range.step() == null ? Long.MAX_VALUE : range.step().toSeconds())
                .list(Sum::read);
        RunStats.Figures total = total(sums).figures(range.elapsed());
        return new RunStats(
                range.from(),
                range.to(),
                range.step(),
                total,
                points(range, sums),
                query.by() == RunStats.Grouping.OUTCOME ? outcomes(range, sums, total) : groups(range, names, sums));
    }

    /** Returns from when on minutes are read: after the hours that are computed. */
    private Instant computedUntil(StatsRange range) throws SQLException {
        return session.queryWithNewPlan(COMPUTED_UNTIL)
                .text("project", project)
                .first(row -> row.maybeInstant("computed") == null ? range.from() : row.instant("computed"))
                .filter(computed -> computed.isAfter(range.from()))
                .orElse(range.from());
    }

    private String grouping() {
        return query.by() == RunStats.Grouping.TARGET ? TARGET : QUEUE;
    }

    private List<String> topGroups(StatsRange range, Instant minutesFrom) throws SQLException {
        return bind(session.queryWithNewPlan(TOP_GROUPS.formatted(grouping())), range, minutesFrom)
                .number("limit", query.limit())
                .list(row -> row.text("name"));
    }

    private Query bind(Query statement, StatsRange range, Instant minutesFrom) throws SQLException {
        return bindRange(statement, range, minutesFrom)
                .text("queue", query.queue())
                .text("handler", query.handler());
    }

    private Query bindRange(Query statement, StatsRange range, Instant minutesFrom) throws SQLException {
        return statement
                .text("project", project)
                .instant("from", range.from())
                .instant("to", range.to())
                .instant("minutesFrom", minutesFrom.isAfter(range.to()) ? range.to() : minutesFrom);
    }

    private static Sum total(List<Sum> sums) {
        return sums.stream().reduce(Sum.NONE, Sum::plus);
    }

    private static List<RunStats.Point> points(StatsRange range, List<Sum> sums) {
        Map<Long, Sum> byPoint = new HashMap<>();
        sums.forEach(sum -> byPoint.merge(sum.point(), sum, Sum::plus));
        List<RunStats.Point> points = new ArrayList<>();
        for (long i = 0; i < range.points(); i++)
            points.add(new RunStats.Point(
                    range.at(i), byPoint.getOrDefault(i, Sum.NONE).figures(range.elapsed(i))));
        return points;
    }

    private static List<RunStats.Group> groups(StatsRange range, List<String> names, List<Sum> sums) {
        if (names.isEmpty()) return List.of();
        List<RunStats.Group> groups = new ArrayList<>();
        for (String name : names) {
            int colon = name.indexOf(':');
            groups.add(group(
                    range,
                    name.substring(0, colon),
                    name.substring(colon + 1),
                    sums.stream().filter(sum -> name.equals(sum.name())).toList()));
        }
        List<Sum> rest = sums.stream().filter(sum -> sum.name() == null).toList();
        if (!rest.isEmpty()) groups.add(group(range, "other", "", rest));
        return groups;
    }

    private static RunStats.Group group(StatsRange range, String kind, String name, List<Sum> sums) {
        return new RunStats.Group(kind, name, total(sums).figures(range.elapsed()), points(range, sums));
    }

    private static List<RunStats.Group> outcomes(StatsRange range, List<Sum> sums, RunStats.Figures total) {
        List<RunStats.Point> points = points(range, sums);
        return OUTCOMES.stream()
                .filter(outcome -> total.count(outcome) > 0)
                .map(outcome -> new RunStats.Group(
                        "outcome",
                        outcome.text(),
                        total.only(outcome),
                        points.stream()
                                .map(point -> new RunStats.Point(
                                        point.at(), point.figures().only(outcome)))
                                .toList()))
                .toList();
    }
}
