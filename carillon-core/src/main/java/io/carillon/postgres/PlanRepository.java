package io.carillon.postgres;

import io.carillon.schedule.Definition;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import io.carillon.store.PlanStore;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Planning by compare-and-set: read, compute, and write only where cursor and version still are what was read. */
final class PlanRepository implements PlanStore {
    private static final String CLOCK = "SELECT carillon.clock() AS now";

    private static final String DUE = "SELECT " + ScheduleRows.COLUMNS + """
              FROM carillon.schedule s
             WHERE s.paused_at IS NULL AND s.next_at <= carillon.clock() + make_interval(secs => :ahead)
             ORDER BY s.next_at LIMIT :limit
            """;

    // Ticks nobody started in time. Their schedules are found by the ticks, at the cost of the late ones only.
    private static final String WITH_LATE = "SELECT " + ScheduleRows.COLUMNS + """
              FROM carillon.schedule s
             WHERE s.paused_at IS NULL
               AND s.id IN (SELECT r.schedule_id FROM carillon.run r
                             WHERE r.start_by <= carillon.clock() AND r.owner IS NULL AND r.attempt = 0 LIMIT 5000)
             LIMIT :limit
            """;

    // Also late runs that an earlier settlement let through and that nobody started yet: run-once means one of them
    // all.
    private static final String LATE_TICKS = """
            SELECT r.id, r.schedule_id, r.planned_at FROM carillon.run r
             WHERE r.schedule_id = ANY (:ids::uuid[]) AND r.origin = 'tick' AND r.owner IS NULL AND r.attempt = 0
               AND (r.start_by <= carillon.clock() OR (r.start_by = 'infinity' AND r.due_at <= carillon.clock()))
            """;

    // The schedule's lock comes first, as in every edit; whoever holds it is about to move it, so we do not wait.
    private static final String WRITE = """
            WITH wanted AS (
              SELECT * FROM unnest(:projects::text[], :ids::uuid[], :versions::bigint[], :olds::timestamptz[], :cursors::timestamptz[],
                                   :nexts::timestamptz[], :tickCounts::bigint[], :lateCounts::bigint[])
                AS w(project, id, version, old, cursor, next_at, ticks, late)),
            locked AS (
              SELECT s.project, s.id, w.late FROM carillon.schedule s JOIN wanted w ON s.project = w.project AND s.id = w.id
               WHERE s.cursor = w.old AND s.version = w.version AND s.paused_at IS NULL
               ORDER BY s.id FOR UPDATE OF s SKIP LOCKED),
            late AS (
              SELECT r.project, r.id, r.schedule_id, v.reason
                FROM unnest(:lateProjects::text[], :lateIds::uuid[], :lateReasons::text[]) AS v(project, id, reason)
                JOIN carillon.run r ON r.project = v.project AND r.id = v.id
                JOIN locked l ON l.id = r.schedule_id
               WHERE r.owner IS NULL AND r.attempt = 0
                 FOR UPDATE OF r SKIP LOCKED),
            valid AS (
              SELECT l.project, l.id FROM locked l WHERE l.late = (SELECT count(*) FROM late WHERE late.schedule_id = l.id)),
            moved AS (
              UPDATE carillon.schedule s SET cursor = w.cursor, next_at = w.next_at, ticks = s.ticks + w.ticks
                FROM wanted w JOIN valid v ON v.project = w.project AND v.id = w.id
               WHERE s.project = w.project AND s.id = w.id
              RETURNING s.id),
            let_through AS (
              UPDATE carillon.run r SET start_by = 'infinity'
                FROM late JOIN valid v ON v.id = late.schedule_id
               WHERE r.project = late.project AND r.id = late.id AND late.reason IS NULL AND r.start_by < 'infinity'),
            dropped AS (
              DELETE FROM carillon.run r USING late JOIN valid v ON v.id = late.schedule_id
               WHERE r.project = late.project AND r.id = late.id AND late.reason IS NOT NULL
              RETURNING r.*, late.reason AS why),
            missed AS (
              INSERT INTO carillon.run_history
                (project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, started_at, ended_at, created_at,
                 schedule_id, parent_id, owner, state, origin, target, target_name, key, reason, trace)
              SELECT project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, NULL, carillon.clock(), created_at,
                     schedule_id, parent_id, NULL, 'missed', origin, target, target_name, key, why, trace
                FROM dropped),
            gaps AS (
              INSERT INTO carillon.ledger_gap (project, schedule_id, from_at, to_at, day, count, state, reason, version)
              SELECT v.project, v.id, g.from_at, g.to_at, (g.to_at AT TIME ZONE 'UTC')::date, g.count, g.state, g.reason, w.version
                FROM unnest(:gapIds::uuid[], :gapFroms::timestamptz[], :gapTos::timestamptz[], :gapCounts::bigint[], :gapStates::text[],
                            :gapReasons::text[]) AS g(id, from_at, to_at, count, state, reason)
                JOIN valid v ON v.id = g.id JOIN wanted w ON w.id = g.id),
            born AS (
              INSERT INTO carillon.run
                (project, id, queue, class, due_at, ready_at, start_by, planned_at, day, schedule_id, origin, target, target_name, codec, payload, policy)
              SELECT s.project, t.id, s.queue, s.class, t.due_at, t.due_at, t.start_by, t.planned_at, (t.planned_at AT TIME ZONE 'UTC')::date, s.id,
                     'tick', s.target, s.target_name, s.codec, s.payload, s.policy
                FROM unnest(:tickSchedules::uuid[], :tickIds::uuid[], :tickPlanned::timestamptz[], :tickDue::timestamptz[], :tickStartBy::timestamptz[])
                       AS t(schedule_id, id, planned_at, due_at, start_by)
                JOIN valid v ON v.id = t.schedule_id
                JOIN carillon.schedule s ON s.project = v.project AND s.id = v.id
              ON CONFLICT DO NOTHING)
            SELECT count(*) AS moved FROM moved
            """;

    private final Database database;
    private final Partitions partitions;

    PlanRepository(Database database, Partitions partitions) {
        this.database = database;
        this.partitions = partitions;
    }

    @Override
    public DueSchedules due(Duration lookAhead, int limit) {
        return database.single(session -> {
            Instant now = session.query(CLOCK).first(row -> row.instant("now")).orElseThrow();
            Map<UUID, Schedule> schedules = new HashMap<>();
            session.query(DUE)
                    .seconds("ahead", lookAhead)
                    .number("limit", limit)
                    .list(row -> add(schedules, row));
            session.query(WITH_LATE).number("limit", limit).list(row -> add(schedules, row));
            return new DueSchedules(now, List.copyOf(schedules.values()), late(session, schedules));
        });
    }

    private static Schedule add(Map<UUID, Schedule> schedules, Row row) throws SQLException {
        Schedule schedule = ScheduleRows.read(row);
        schedules.put(schedule.id().value(), schedule);
        return schedule;
    }

    private static Map<Schedule, List<TickPlan.LateTick>> late(Session session, Map<UUID, Schedule> schedules)
            throws SQLException {
        Map<Schedule, List<TickPlan.LateTick>> late = new HashMap<>();
        if (schedules.isEmpty()) return late;
        session.query(LATE_TICKS).uuids("ids", schedules.keySet()).list(row -> {
            Schedule schedule = schedules.get(row.uuid("schedule_id"));
            TickPlan.LateTick tick = new TickPlan.LateTick(row.uuid("id"), row.instant("planned_at"));
            return schedule != null
                    && late.computeIfAbsent(schedule, s -> new ArrayList<>()).add(tick);
        });
        return late;
    }

    @Override
    public int write(List<TickPlan> plans) {
        if (plans.isEmpty()) return 0;
        return partitions.completing(() -> database.single(session -> write(session, plans)));
    }

    static int write(Session session, List<TickPlan> unordered) throws SQLException {
        List<TickPlan> plans = unordered.stream()
                .sorted(Comparator.comparing(plan -> plan.read().id().value()))
                .toList();
        List<Part<TickPlan.Tick>> ticks = parts(plans, TickPlan::ticks);
        List<Part<TickPlan.Gap>> gaps = parts(plans, TickPlan::gaps);
        List<Part<TickPlan.Verdict>> late = parts(plans, TickPlan::late);
        Query query = session.query(WRITE)
                .column(
                        "projects",
                        "text",
                        plans,
                        plan -> plan.read().definition().project())
                .column("ids", "uuid", plans, plan -> plan.read().id().value())
                .column("versions", "int8", plans, plan -> plan.read().version())
                .column(
                        "olds",
                        "timestamptz",
                        plans,
                        plan -> plan.read().progress().cursor())
                .column("cursors", "timestamptz", plans, TickPlan::cursor)
                .column("nexts", "timestamptz", plans, TickPlan::nextAt)
                .column("tickCounts", "int8", plans, plan -> (long) plan.ticks().size())
                .column("lateCounts", "int8", plans, plan -> (long) plan.late().size())
                .column("lateProjects", "text", late, part -> part.definition().project())
                .column("lateIds", "uuid", late, part -> part.item().run())
                .column("lateReasons", "text", late, part -> part.item().reason())
                .column("gapIds", "uuid", gaps, Part::schedule)
                .column("gapFroms", "timestamptz", gaps, part -> part.item().from())
                .column("gapTos", "timestamptz", gaps, part -> part.item().to())
                .column("gapCounts", "int8", gaps, part -> part.item().count())
                .column("gapStates", "text", gaps, part -> part.item().state())
                .column("gapReasons", "text", gaps, part -> part.item().reason())
                .column("tickSchedules", "uuid", ticks, Part::schedule)
                .column("tickIds", "uuid", ticks, part -> part.item().id())
                .column("tickPlanned", "timestamptz", ticks, part -> part.item().plannedAt())
                .column("tickDue", "timestamptz", ticks, part -> part.item().dueAt())
                .column("tickStartBy", "timestamptz", ticks, part -> part.item().startBy());
        return query.first(row -> row.integer("moved")).orElse(0);
    }

    private record Part<T>(UUID schedule, Definition definition, T item) {}

    private static <T> List<Part<T>> parts(List<TickPlan> plans, java.util.function.Function<TickPlan, List<T>> items) {
        List<Part<T>> parts = new ArrayList<>();
        for (TickPlan plan : plans)
            for (T item : items.apply(plan))
                parts.add(new Part<>(plan.read().id().value(), plan.read().definition(), item));
        return parts;
    }
}
