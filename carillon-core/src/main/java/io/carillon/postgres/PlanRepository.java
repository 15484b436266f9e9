package io.carillon.postgres;

import io.carillon.schedule.Schedule;
import io.carillon.schedule.TickPlan;
import io.carillon.store.PlanStore;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Planning by compare-and-set: read, compute, and write only where cursor and version still are what was read. */
final class PlanRepository implements PlanStore {
    private static final String CLOCK = "SELECT carillon.clock() AS now";

    // An interval that follows the backlog is planned on once somebody has looked at it.
    private static final String DUE = "SELECT " + ScheduleRows.COLUMNS + """
              FROM carillon.schedule s
             WHERE s.paused_at IS NULL AND (s.adaptive_min IS NULL OR s.adaptive_at = s.cursor OR s.cursor > carillon.clock())
               AND s.next_at >= :since AND s.next_at <= carillon.clock() + make_interval(secs => :renew)
             ORDER BY s.next_at LIMIT :limit
            """;

    // Ticks nobody started in time. Their schedules are found by the ticks, at the cost of the late ones only: the
    // index
    // holds no others, and knows it only where the condition says so. Each is looked up by itself, or a guess at how
    // many
    // are late would read all schedules.
    private static final String WITH_LATE = "SELECT " + ScheduleRows.COLUMNS + """
              FROM (SELECT DISTINCT project, schedule_id
                      FROM (SELECT r.project, r.schedule_id FROM carillon.run r
                             WHERE r.start_by < 'infinity' AND r.start_by >= :since AND r.start_by <= carillon.clock()
                               AND r.owner IS NULL AND r.attempt = 0
                             ORDER BY r.start_by LIMIT 5000) first) late,
                   LATERAL (SELECT * FROM carillon.schedule
                             WHERE project = late.project AND id BETWEEN late.schedule_id AND late.schedule_id
                             ORDER BY id LIMIT 1) s
             WHERE s.paused_at IS NULL AND (s.adaptive_min IS NULL OR s.adaptive_at = s.cursor OR s.cursor > carillon.clock())
             LIMIT :limit
            """;

    // Also late runs that an earlier settlement let through and that nobody started yet: they count to those that may
    // wait. None of them is planned for later. One that waits behind an earlier run of its schedule is not late.
    private static final String LATE_TICKS = """
            SELECT r.id, r.schedule_id, r.planned_at, r.start_by = 'infinity' AS let_through FROM carillon.run r
             WHERE r.schedule_id = ANY (:ids::uuid[]) AND r.planned_at <= carillon.clock() AND r.origin = 'tick' AND r.owner IS NULL AND r.attempt = 0
               AND (r.start_by <= carillon.clock() OR (r.start_by = 'infinity' AND r.parked IS DISTINCT FROM 'gate'))
            """;

    // The schedule's lock comes first, as in every edit; whoever holds it is about to move it, so we do not wait. Each
    // schedule has its slice of the arrays: joining them would compare every tick with every schedule. Rows are looked
    // up one by one and written by ctid, because a join planned for empty tables reads them whole when they are full;
    // the ranges leave the key as the only index in their order.
    private static final String WRITE = """
            WITH wanted AS (
              SELECT * FROM unnest(:projects::text[], :ids::uuid[], :versions::bigint[], :olds::timestamptz[], :cursors::timestamptz[],
                                   :nexts::timestamptz[], :tickFirsts::int[], :tickLasts::int[], :lateFirsts::int[], :lateLasts::int[],
                                   :gapFirsts::int[], :gapLasts::int[])
                AS w(project, id, version, old, cursor, next_at, tick_first, tick_last, late_first, late_last, gap_first, gap_last)),
            locked AS (
              SELECT w.*, s.ctid AS place, s.queue, s.class, s.target, s.target_name, s.codec, s.payload, s.trace, s.policy,
                     nullif(s.overlap, 'allow') AS overlap
                FROM wanted w
                CROSS JOIN LATERAL (SELECT ctid, * FROM carillon.schedule
                                     WHERE project = w.project AND id BETWEEN w.id AND w.id AND cursor = w.old AND version = w.version
                                       AND paused_at IS NULL
                                     ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) s),
            late AS (
              SELECT r.place, l.project, r.id, l.id AS schedule_id, r.start_by, v.reason, v.due_at, l.late_last - l.late_first + 1 AS expected
                FROM locked l
                CROSS JOIN LATERAL unnest((:lateIds::uuid[])[l.late_first : l.late_last], (:lateReasons::text[])[l.late_first : l.late_last],
                                          (:lateDue::timestamptz[])[l.late_first : l.late_last]) AS v(id, reason, due_at)
                CROSS JOIN LATERAL (SELECT ctid AS place, id, start_by FROM carillon.run
                                     WHERE project = l.project AND id BETWEEN v.id AND v.id AND schedule_id = l.id AND owner IS NULL AND attempt = 0
                                     ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) r),
            settled AS (
              SELECT * FROM (SELECT late.*, count(*) OVER (PARTITION BY schedule_id) AS found FROM late) counted WHERE found = expected),
            valid AS (
              SELECT l.* FROM locked l WHERE l.late_last < l.late_first OR l.id IN (SELECT schedule_id FROM settled)),
            moved AS (
              UPDATE carillon.schedule s SET cursor = v.cursor, next_at = v.next_at, ticks = s.ticks + v.tick_last - v.tick_first + 1
                FROM valid v
               WHERE s.ctid = v.place
              RETURNING s.id),
            let_through AS (
              UPDATE carillon.run r
                 SET start_by = 'infinity',
                     ready_at = CASE WHEN r.parked IS NULL AND t.due_at > carillon.clock() THEN t.due_at ELSE r.ready_at END,
                     gate_at = CASE WHEN r.gate_at IS NOT NULL AND t.due_at > carillon.clock() THEN t.due_at ELSE r.gate_at END
                FROM settled t
               WHERE r.ctid = t.place AND t.reason IS NULL AND t.start_by < 'infinity'),
            dropped AS (
              DELETE FROM carillon.run r USING settled t
               WHERE r.ctid = t.place AND t.reason IS NOT NULL
              RETURNING r.*, t.reason AS why),
            missed AS (
              INSERT INTO carillon.run_history
                (project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, started_at, ended_at, created_at,
                 schedule_id, parent_id, owner, state, origin, target, target_name, key, reason, trace)
              SELECT project, id, day, queue, class, suspect, crashes, attempt, failures, due_at, planned_at, NULL, carillon.clock(), created_at,
                     schedule_id, parent_id, NULL, 'missed', origin, target, target_name, key, why, trace
                FROM dropped),
            gaps AS (
              INSERT INTO carillon.ledger_gap (project, schedule_id, from_at, to_at, day, count, state, reason, version)
              SELECT v.project, v.id, g.from_at, g.to_at, (g.to_at AT TIME ZONE 'UTC')::date, g.count, g.state, g.reason, v.version
                FROM valid v
                CROSS JOIN LATERAL unnest((:gapFroms::timestamptz[])[v.gap_first : v.gap_last], (:gapTos::timestamptz[])[v.gap_first : v.gap_last],
                                          (:gapCounts::bigint[])[v.gap_first : v.gap_last], (:gapStates::text[])[v.gap_first : v.gap_last],
                                          (:gapReasons::text[])[v.gap_first : v.gap_last]) AS g(from_at, to_at, count, state, reason)),
            born AS (
              INSERT INTO carillon.run
                (project, id, queue, class, due_at, ready_at, start_by, planned_at, day, schedule_id, origin, target, target_name, codec, payload, trace, policy,
                 gate_key, parked, seq, gate_at)
              SELECT v.project, t.id, v.queue, v.class, t.due_at, CASE WHEN v.overlap IS NULL THEN t.due_at ELSE 'infinity' END, t.start_by, t.planned_at, (t.planned_at AT TIME ZONE 'UTC')::date, v.id,
                     'tick', v.target, v.target_name, v.codec, v.payload, v.trace, v.policy,
                     'overlap:' || CASE WHEN v.overlap IS NOT NULL THEN v.id::text END, CASE WHEN v.overlap IS NOT NULL THEN 'gate' END,
                     CASE WHEN v.overlap IS NOT NULL THEN (extract(epoch FROM t.planned_at) * 1000000)::bigint END,
                     CASE WHEN v.overlap IS NOT NULL THEN t.due_at END
                FROM valid v
                CROSS JOIN LATERAL unnest((:tickIds::uuid[])[v.tick_first : v.tick_last], (:tickPlanned::timestamptz[])[v.tick_first : v.tick_last],
                                          (:tickDue::timestamptz[])[v.tick_first : v.tick_last],
                                          (:tickStartBy::timestamptz[])[v.tick_first : v.tick_last]) AS t(id, planned_at, due_at, start_by)
              ON CONFLICT DO NOTHING)
            SELECT id FROM moved
            """;

    // The questions themselves, each in its own order and for one row: no more of an index is read than its first
    // entry.
    private static final String ANYTHING = Stream.of(
                    DUE,
                    WITH_LATE,
                    ScheduleKeeper.OVER,
                    ScheduleKeeper.OLDER_RULES,
                    ScheduleKeeper.ADAPTABLE,
                    ScheduleKeeper.MAY_FAIL)
            .map("(SELECT true FROM (%s) found LIMIT 1) IS NOT NULL"::formatted)
            .collect(Collectors.joining("\nOR ", "SELECT ", " AS anything"));

    private static final Logger log = LoggerFactory.getLogger(PlanRepository.class);
    private final Database database;
    private final Partitions partitions;
    private final ScheduleKeeper keeper;
    private final PlanningToken token;

    PlanRepository(Database database, Partitions partitions, ScheduleKeeper keeper) {
        this.database = database;
        this.partitions = partitions;
        this.keeper = keeper;
        this.token = new PlanningToken(database);
    }

    @Override
    public boolean lead(UUID node, Duration lease) {
        return token.hold(node, lease);
    }

    @Override
    public void stepDown(UUID node) {
        token.letGo(node);
    }

    @Override
    public boolean anything(Reach reach) {
        return database.single(session -> session.query(ANYTHING)
                .instant("since", reach.since())
                .seconds("renew", reach.renew())
                .seconds("ahead", reach.ahead())
                .number("limit", 1)
                .text("tzdata", ScheduleRows.tzdata())
                .first(row -> row.flag("anything"))
                .orElseThrow());
    }

    @Override
    public List<Schedule> turnPauses(Reach reach) {
        return keeper.turn(reach);
    }

    @Override
    public int followZones() {
        return keeper.followZones();
    }

    @Override
    public int followBacklogs() {
        return keeper.followBacklogs();
    }

    @Override
    public DueSchedules due(Reach reach, int limit) {
        return database.single(session -> {
            Map<UUID, Schedule> schedules = new LinkedHashMap<>();
            session.query(DUE)
                    .instant("since", reach.since())
                    .seconds("renew", reach.renew())
                    .number("limit", limit)
                    .list(row -> add(schedules, row));
            session.query(WITH_LATE)
                    .instant("since", reach.since())
                    .number("limit", limit)
                    .list(row -> add(schedules, row));
            if (schedules.isEmpty()) return DueSchedules.NONE;
            Instant now = session.query(CLOCK).first(row -> row.instant("now")).orElseThrow();
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
            TickPlan.LateTick tick =
                    new TickPlan.LateTick(row.uuid("id"), row.instant("planned_at"), row.flag("let_through"));
            return schedule != null
                    && late.computeIfAbsent(schedule, s -> new ArrayList<>()).add(tick);
        });
        return late;
    }

    /** So many rows are written in a second or two, far from the time limit of a statement. */
    private static final int MOST_ROWS = 20_000;

    @Override
    public List<TickPlan> write(List<TickPlan> plans) {
        List<TickPlan> moved = new ArrayList<>();
        int rows = 0;
        int first = 0;
        for (int i = 0; i < plans.size(); i++) {
            rows += plans.get(i).ticks().size() + plans.get(i).late().size();
            if (rows < MOST_ROWS) continue;
            moved.addAll(writeGroup(plans.subList(first, i + 1)));
            first = i + 1;
            rows = 0;
        }
        moved.addAll(writeGroup(plans.subList(first, plans.size())));
        return moved;
    }

    /** A group in which a plan is refused is split down to that plan: one schedule must not stop the planning of others. */
    private List<TickPlan> writeGroup(List<TickPlan> plans) {
        if (plans.isEmpty()) return List.of();
        try {
            return partitions.completing(() -> database.single(session -> write(session, plans)));
        } catch (StorageException failure) {
            if (!failure.rowAtFault()) throw failure;
            if (plans.size() == 1) {
                log.error(
                        "plan refused schedule={} error={}", plans.get(0).read().id(), failure.getMessage());
                return List.of();
            }
            int half = plans.size() / 2;
            List<TickPlan> moved = new ArrayList<>(writeGroup(plans.subList(0, half)));
            moved.addAll(writeGroup(plans.subList(half, plans.size())));
            return moved;
        }
    }

    static List<TickPlan> write(Session session, List<TickPlan> unordered) throws SQLException {
        List<TickPlan> plans = unordered.stream()
                .sorted(Comparator.comparing(plan -> plan.read().id().value()))
                .toList();
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
                .column("nexts", "timestamptz", plans, TickPlan::nextAt);
        List<TickPlan.Tick> ticks = sliced(query, "tick", plans, TickPlan::ticks);
        List<TickPlan.Verdict> late = sliced(query, "late", plans, TickPlan::late);
        List<TickPlan.Gap> gaps = sliced(query, "gap", plans, TickPlan::gaps);
        Set<UUID> moved = new HashSet<>(query.column("lateIds", "uuid", late, TickPlan.Verdict::run)
                .column("lateReasons", "text", late, TickPlan.Verdict::reason)
                .column("lateDue", "timestamptz", late, TickPlan.Verdict::dueAt)
                .column("gapFroms", "timestamptz", gaps, TickPlan.Gap::from)
                .column("gapTos", "timestamptz", gaps, TickPlan.Gap::to)
                .column("gapCounts", "int8", gaps, TickPlan.Gap::count)
                .column("gapStates", "text", gaps, TickPlan.Gap::state)
                .column("gapReasons", "text", gaps, TickPlan.Gap::reason)
                .column("tickIds", "uuid", ticks, TickPlan.Tick::id)
                .column("tickPlanned", "timestamptz", ticks, TickPlan.Tick::plannedAt)
                .column("tickDue", "timestamptz", ticks, TickPlan.Tick::dueAt)
                .column("tickStartBy", "timestamptz", ticks, TickPlan.Tick::startBy)
                .list(row -> row.uuid("id")));
        return plans.stream()
                .filter(plan -> moved.contains(plan.read().id().value()))
                .toList();
    }

    /** All items one after the other; which slice belongs to which plan is bound as two columns. */
    private static <T> List<T> sliced(Query query, String name, List<TickPlan> plans, Function<TickPlan, List<T>> items)
            throws SQLException {
        List<T> all = new ArrayList<>();
        List<Integer> firsts = new ArrayList<>();
        List<Integer> lasts = new ArrayList<>();
        for (TickPlan plan : plans) {
            firsts.add(all.size() + 1);
            all.addAll(items.apply(plan));
            lasts.add(all.size());
        }
        query.column(name + "Firsts", "int4", firsts, first -> first)
                .column(name + "Lasts", "int4", lasts, last -> last);
        return all;
    }
}
