package io.carillon.internal.postgres.schedule;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.postgres.sql.HistoryInsert;
import io.carillon.internal.postgres.sql.RunInsert;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.store.schedule.PlanStore;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.schedule.Schedule;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Planning by compare-and-set: reads, computes, and writes only where cursor and version have not changed. */
public final class PlanRepository implements PlanStore {
    private static final String CLOCK = "SELECT carillon.clock() AS now";

    // An adaptive interval is planned further only after its backlog was read at the current cursor.
    private static final String DUE = "SELECT " + ScheduleRows.COLUMNS + """
              FROM carillon.schedule s
             WHERE s.paused_at IS NULL AND (s.adaptive_min IS NULL OR s.adapted_cursor = s.cursor
               OR s.cursor > carillon.clock())
               AND s.next_at >= :since AND s.next_at <= carillon.clock() + make_interval(secs => :renew)
               AND s.id <> ALL (:unreadable::uuid[])
               AND (s.tzdata COLLATE "C" <= :tzdata OR s.zone IN ('UTC', 'Z'))
             ORDER BY s.next_at LIMIT :limit
            """;

    // Ticks that no node started in time. The ticks lead to their schedules, at the cost of the late ticks only: the
    // index contains no others, and PostgreSQL uses it only if the condition says so. Each schedule is looked up
    // separately; otherwise an estimate of many late ticks would make PostgreSQL read all schedules.
    private static final String WITH_LATE_TICKS = "SELECT " + ScheduleRows.COLUMNS + """
              FROM (SELECT DISTINCT project, schedule_id
                      FROM (SELECT r.project, r.schedule_id FROM carillon.run r
                             WHERE r.start_by < 'infinity' AND r.start_by >= :since AND r.start_by <= carillon.clock()
                               AND r.owner IS NULL
                             ORDER BY r.start_by LIMIT 5000) first) late,
                   LATERAL (SELECT * FROM carillon.schedule
                             WHERE project = late.project AND id BETWEEN late.schedule_id AND late.schedule_id
                             ORDER BY id LIMIT 1) s
             WHERE s.paused_at IS NULL AND (s.adaptive_min IS NULL OR s.adapted_cursor = s.cursor
               OR s.cursor > carillon.clock())
               AND s.id <> ALL (:unreadable::uuid[])
               AND (s.tzdata COLLATE "C" <= :tzdata OR s.zone IN ('UTC', 'Z'))
             LIMIT :limit
            """;

    // Includes late runs that an earlier resolution let through and that no handler has started yet: they count toward
    // the runs that may wait. None of them is planned for later. A run that waits behind an earlier run of its schedule
    // is not late. A start_by before infinity means that no handler has started the run, even if nodes without that
    // handler claimed it. It is compared with <> so that PostgreSQL cannot use the index of late ticks, which has no
    // useful order here.
    private static final String LATE_TICKS = """
            SELECT r.id, r.schedule_id, r.planned_at, r.may_start_late IS NOT NULL AS allowed_late,
                   r.may_start_late IS NULL AND EXISTS (SELECT 1 FROM carillon.lane l
                                  WHERE l.queue = r.queue AND l.project = r.project
                                    AND (l.paused_at IS NOT NULL OR l.breaker <> 'closed' OR l.max_running IS NOT NULL
                                      OR l.rate IS NOT NULL
                                         OR (l.held_back_since < r.start_by
                                           AND l.held_back_until > r.planned_at))) AS held_back
              FROM carillon.run r
             WHERE r.schedule_id = ANY (:ids::uuid[]) AND r.planned_at <= carillon.clock() AND r.origin = 'tick'
               AND r.owner IS NULL
               AND r.start_by <> 'infinity' AND (r.start_by <= carillon.clock()
                 OR (r.may_start_late AND r.parked IS DISTINCT FROM 'gate'))
            """;

    private static final String COUNT_BEHIND = """
            SELECT count(*) AS behind
              FROM (SELECT 1 FROM carillon.schedule s
                     WHERE s.paused_at IS NULL AND s.next_at >= :since AND s.next_at <= carillon.clock()
                     ORDER BY s.next_at LIMIT 10000) behind
            """;

    // Each schedule has its slice of the arrays: a join would compare every tick with every schedule.
    private static final String PLANS = """
            WITH plans AS (
              SELECT * FROM unnest(:projects::text[], :ids::uuid[], :versions::bigint[], :oldCursors::timestamptz[],
                :cursors::timestamptz[],
                                   :nextInstants::timestamptz[], :tickFirsts::int[], :tickLasts::int[],
                                   :gapFirsts::int[], :gapLasts::int[],
                                   :lateFirsts::int[], :lateLasts::int[])
                AS w(project, id, version, old_cursor, cursor, next_at, tick_first, tick_last, gap_first, gap_last,
                  late_first, late_last)),
            """;

    // The gaps and ticks of the schedules in the relation "advanced"; each has its slices of the arrays.
    static final String INSERT_PLANNED = """
            inserted_gaps AS (
              INSERT INTO carillon.ledger_gap (project, schedule_id, from_at, to_at, day, count, state, reason, version)
              SELECT v.project, v.id, g.from_at, g.to_at, (g.to_at AT TIME ZONE 'UTC')::date, g.count, g.state,
                g.reason, v.version
                FROM advanced v
                CROSS JOIN LATERAL unnest((:gapFroms::timestamptz[])[v.gap_first : v.gap_last],
                  (:gapTos::timestamptz[])[v.gap_first : v.gap_last],
                                          (:gapCounts::bigint[])[v.gap_first : v.gap_last],
                                          (:gapStates::text[])[v.gap_first : v.gap_last],
                                          (:gapReasons::text[])[v.gap_first : v.gap_last])
                                            AS g(from_at, to_at, count, state, reason)),
            inserted_ticks AS (
            """
            + RunInsert.of("v", "t.id", "'tick'", "t.due_at")
                    .ofSchedule("v", "t.planned_at")
                    .with("start_by", "t.start_by")
                    .with("planned_at", "t.planned_at")
                    .with("day", "(t.planned_at AT TIME ZONE 'UTC')::date")
                    .with("may_start_late", "t.may_start_late")
                    .from("""
                advanced v
                CROSS JOIN LATERAL unnest((:tickIds::uuid[])[v.tick_first : v.tick_last],
                                          (:tickPlanned::timestamptz[])[v.tick_first : v.tick_last],
                                          (:tickDue::timestamptz[])[v.tick_first : v.tick_last],
                                          (:tickStartBy::timestamptz[])[v.tick_first : v.tick_last],
                                          (:tickMayStartLate::bool[])[v.tick_first : v.tick_last])
                  AS t(id, planned_at, due_at, start_by, may_start_late)
              ON CONFLICT DO NOTHING)
            """);

    // The schedule is written once, by its key and only if cursor and version have not changed since they were read;
    // all other writes read the RETURNING of this one. The LIMIT removes no row: it makes a generic plan expect few
    // rows and find them by the key.
    private static final String ADVANCE = """
            advanced AS (
              UPDATE carillon.schedule s SET cursor = w.cursor, next_at = w.next_at,
                ticks = s.ticks + w.tick_last - w.tick_first + 1
                FROM (SELECT * FROM locked_plans LIMIT cardinality(:ids::uuid[])) w
               WHERE s.project = w.project AND s.id = w.id AND s.cursor = w.old_cursor AND s.version = w.version
                 AND s.paused_at IS NULL
              RETURNING s.project, s.id, s.version, s.queue, s.priority, s.target, s.target_name, s.codec, s.payload,
                        s.headers, s.policy,
                        s.overlap,
                        w.tick_first, w.tick_last, w.late_first, w.late_last, w.gap_first, w.gap_last),
            """ + INSERT_PLANNED;

    // The schedule is locked first, as in every edit. Another transaction that has locked it is about to move it, so
    // this statement does not wait. Rows are looked up one by one, because a join that was planned for empty tables
    // reads them completely when they are full; the ranges leave the key as the only index in this order.
    private static final String WRITE = PLANS + """
            locked_plans AS MATERIALIZED (
              SELECT w.* FROM plans w
                CROSS JOIN LATERAL (SELECT 1 FROM carillon.schedule
                                     WHERE project = w.project AND id BETWEEN w.id AND w.id AND cursor = w.old_cursor
                                       AND version = w.version
                                       AND paused_at IS NULL
                                     ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) s),
            """ + ADVANCE + "SELECT id FROM advanced";

    // For plans with late ticks, the first of two statements in one transaction: locks the schedules and then their
    // late ticks. Whether all late ticks still exist is decided between the statements, while the locks are held.
    private static final String LOCK_LATE = """
            WITH locked AS MATERIALIZED (
              SELECT w.* FROM unnest(:projects::text[], :ids::uuid[], :versions::bigint[], :oldCursors::timestamptz[],
                :lateFirsts::int[], :lateLasts::int[])
                     AS w(project, id, version, old_cursor, late_first, late_last)
                CROSS JOIN LATERAL (SELECT 1 FROM carillon.schedule
                                     WHERE project = w.project AND id BETWEEN w.id AND w.id AND cursor = w.old_cursor
                                       AND version = w.version
                                       AND paused_at IS NULL
                                     ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) s)
            SELECT v.id, r.row_ctid::text AS row_ctid
              FROM locked l
              CROSS JOIN LATERAL unnest((:lateIds::uuid[])[l.late_first : l.late_last]) AS v(id)
              CROSS JOIN LATERAL (SELECT ctid AS row_ctid FROM carillon.run
                                   WHERE project = l.project AND id BETWEEN v.id AND v.id AND schedule_id = l.id
                                     AND owner IS NULL AND start_by <> 'infinity'
                                   ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) r
            """;

    // The second statement: its transaction has locked all rows that it writes, so the row locations are still valid.
    private static final String RESOLVE_MISSED = PLANS + "locked_plans AS (SELECT * FROM plans),\n" + ADVANCE + """
            , late AS (
              SELECT t.* FROM advanced m
                CROSS JOIN LATERAL unnest((:lateIds::uuid[])[m.late_first : m.late_last],
                  (:lateCtids::tid[])[m.late_first : m.late_last],
                                          (:lateReasons::text[])[m.late_first : m.late_last],
                                          (:lateDue::timestamptz[])[m.late_first : m.late_last],
                                          (:lateStartBy::timestamptz[])[m.late_first : m.late_last],
                                          (:lateMayStart::bool[])[m.late_first : m.late_last])
                                            AS t(id, row_ctid, reason, due_at, start_by, may_start_late)),
            allowed_late AS (
              UPDATE carillon.run r
                 SET start_by = t.start_by, may_start_late = t.may_start_late,
                     ready_at = CASE WHEN r.parked IS NULL AND t.due_at > carillon.clock() THEN t.due_at
                       ELSE r.ready_at END,
                     gate_arrival_at = CASE WHEN r.gate_arrival_at IS NOT NULL
                       AND t.due_at > carillon.clock() THEN t.due_at ELSE r.gate_arrival_at END
                FROM late t
               WHERE r.ctid = t.row_ctid AND r.id = t.id AND t.reason IS NULL),
            dropped AS (
              DELETE FROM carillon.run r USING late t
               WHERE r.ctid = t.row_ctid AND r.id = t.id AND t.reason IS NOT NULL
              RETURNING r.*, t.reason AS missed_reason),
            missed AS (
            """
            + HistoryInsert.of("dropped", "'missed'")
                    .with("reason", "dropped.missed_reason")
                    .from("dropped")
            + ") SELECT id FROM advanced";

    // Each query keeps its own order and returns one row: of an index only the first entry is read.
    private static final String HAS_WORK = Stream.of(
                    DUE,
                    WITH_LATE_TICKS,
                    ScheduleMaintenance.PAUSES_OVER,
                    ScheduleMaintenance.OUTDATED_TZDATA,
                    ScheduleMaintenance.ADAPTABLE,
                    ScheduleMaintenance.AUTO_PAUSE_CANDIDATES)
            .map("(SELECT true FROM (%s) found LIMIT 1) IS NOT NULL"::formatted)
            .collect(Collectors.joining("\nOR ", "SELECT ", " AS has_work"));

    private static final Logger log = LoggerFactory.getLogger(PlanRepository.class);
    private final Database database;
    private final Partitions partitions;
    private final ScheduleMaintenance scheduleMaintenance;
    private final LeaderToken planningToken;
    private final LeaderToken claimToken;
    private final EndedRows endedRows;

    public PlanRepository(
            Database database, Partitions partitions, ScheduleMaintenance scheduleMaintenance, EndedRows endedRows) {
        this.database = database;
        this.partitions = partitions;
        this.scheduleMaintenance = scheduleMaintenance;
        this.endedRows = endedRows;
        this.planningToken = new LeaderToken(database, "planning");
        this.claimToken = new LeaderToken(database, "claiming");
    }

    @Override
    public boolean acquireToken(UUID node, Duration lease) {
        return planningToken.acquire(node, lease);
    }

    @Override
    public void releaseToken(UUID node) {
        planningToken.release(node);
    }

    @Override
    public boolean acquireClaimToken(UUID node, Duration lease) {
        return claimToken.acquire(node, lease);
    }

    @Override
    public void releaseClaimToken(UUID node) {
        claimToken.release(node);
    }

    @Override
    public boolean hasWork(PlanningWindow planningWindow) {
        return database.single(session -> session.query(HAS_WORK)
                .instant("since", planningWindow.since())
                .seconds("renew", planningWindow.replanThreshold())
                .seconds("ahead", planningWindow.lookAhead())
                .number("limit", 1)
                .text("tzdata", ScheduleRows.tzdata())
                .text("afterTzdata", ZonePosition.START.tzdata())
                .uuid("afterId", ZonePosition.START.id())
                .uuids("unreadable", scheduleMaintenance.unreadable().excludedIds())
                .first(row -> row.flag("has_work"))
                .orElseThrow());
    }

    @Override
    public List<Schedule> updatePauses(PlanningWindow planningWindow) {
        return scheduleMaintenance.applyPauseChanges(planningWindow);
    }

    @Override
    public ZoneBatch replanChangedZones(ZonePosition after) {
        return scheduleMaintenance.replanForTimeZones(after);
    }

    @Override
    public int adaptIntervals() {
        return scheduleMaintenance.adaptIntervals();
    }

    @Override
    public DueSchedules due(PlanningWindow planningWindow, int limit) {
        return database.single(session -> {
            Map<UUID, Schedule> schedules = new LinkedHashMap<>();
            while (!readInto(
                    schedules,
                    session.query(DUE).seconds("renew", planningWindow.replanThreshold()),
                    planningWindow,
                    limit)) {
                // Reads again, without the schedules that could not be read.
            }
            while (!readInto(schedules, session.query(WITH_LATE_TICKS), planningWindow, limit)) {
                // Reads again, without the schedules that could not be read.
            }
            if (schedules.isEmpty()) return DueSchedules.NONE;
            Instant now = session.query(CLOCK).first(row -> row.instant("now")).orElseThrow();
            Map<Schedule, List<TickPlan.LateTick>> late = readLateTicks(session, schedules);
            long behind = schedules.size() < limit
                    ? schedules.size()
                    : session.query(COUNT_BEHIND)
                            .instant("since", planningWindow.since())
                            .first(row -> row.number("behind"))
                            .orElse(0L);
            return new DueSchedules(now, List.copyOf(schedules.values()), late, Math.max(behind, late.size()));
        });
    }

    /** Returns false if none of the rows could be read, and they took the place of others. */
    private boolean readInto(Map<UUID, Schedule> schedules, Query query, PlanningWindow planningWindow, int limit)
            throws SQLException {
        List<Optional<Schedule>> read = query.instant("since", planningWindow.since())
                .number("limit", limit)
                .text("tzdata", ScheduleRows.tzdata())
                .uuids("unreadable", scheduleMaintenance.unreadable().excludedIds())
                .list(scheduleMaintenance.unreadable()::read);
        List<Schedule> readable = read.stream().flatMap(Optional::stream).toList();
        readable.forEach(schedule -> schedules.put(schedule.id().value(), schedule));
        return readable.size() == read.size() || read.size() < limit || !readable.isEmpty();
    }

    @Override
    public Map<String, String> unreadable() {
        return scheduleMaintenance.unreadable().errorsByName();
    }

    private static Map<Schedule, List<TickPlan.LateTick>> readLateTicks(Session session, Map<UUID, Schedule> schedules)
            throws SQLException {
        Map<Schedule, List<TickPlan.LateTick>> late = new HashMap<>();
        if (schedules.isEmpty()) return late;
        session.query(LATE_TICKS).uuids("ids", schedules.keySet()).list(row -> {
            Schedule schedule = schedules.get(row.uuid("schedule_id"));
            TickPlan.LateTick tick = new TickPlan.LateTick(
                    row.uuid("id"), row.instant("planned_at"), row.flag("allowed_late"), row.flag("held_back"));
            return schedule != null
                    && late.computeIfAbsent(schedule, s -> new ArrayList<>()).add(tick);
        });
        return late;
    }

    /** This many rows are written in one or two seconds, far below the statement timeout. */
    private static final int MAX_ROWS = 20_000;

    @Override
    public List<TickPlan> write(List<TickPlan> plans) {
        List<TickPlan> moved = new ArrayList<>();
        Map<Boolean, List<TickPlan>> byLate = plans.stream()
                .collect(Collectors.partitioningBy(plan -> !plan.lateDecisions().isEmpty()));
        byLate.values().forEach(same -> moved.addAll(writeAll(same)));
        return moved;
    }

    private List<TickPlan> writeAll(List<TickPlan> plans) {
        List<TickPlan> written = new ArrayList<>();
        int rows = 0;
        int first = 0;
        for (int i = 0; i < plans.size(); i++) {
            rows += plans.get(i).ticks().size() + plans.get(i).lateDecisions().size();
            if (rows < MAX_ROWS) continue;
            written.addAll(writeGroup(plans.subList(first, i + 1)));
            first = i + 1;
            rows = 0;
        }
        written.addAll(writeGroup(plans.subList(first, plans.size())));
        return written;
    }

    /** Writes a group; splits a rejected group, so that one schedule does not stop the planning of others. */
    private List<TickPlan> writeGroup(List<TickPlan> plans) {
        if (plans.isEmpty()) return List.of();
        boolean late = !plans.get(0).lateDecisions().isEmpty();
        try {
            return partitions.creatingMissing(() -> late
                    ? database.transaction(
                            session -> UnstartedTicks.counted(session, resolveMissed(session, plans), endedRows))
                    : database.single(session -> write(session, plans, endedRows)));
        } catch (StorageException failure) {
            if (!failure.isRowError()) throw failure;
            if (plans.size() == 1) {
                log.error(
                        "plan rejected by the database schedule={} error={}",
                        plans.get(0).schedule().id(),
                        ControlCharacters.escape(failure.getMessage()));
                return List.of();
            }
            int half = plans.size() / 2;
            List<TickPlan> written = new ArrayList<>(writeGroup(plans.subList(0, half)));
            written.addAll(writeGroup(plans.subList(half, plans.size())));
            return written;
        }
    }

    /** Writes plans without late ticks. */
    static List<TickPlan> write(Session session, List<TickPlan> unordered, EndedRows endedRows) throws SQLException {
        PlanRows plans = PlanRows.of(unordered);
        return UnstartedTicks.counted(session, plans.writtenPlans(plans.bind(session.query(WRITE))), endedRows);
    }

    /** Writes plans with late ticks, in a transaction; omits plans with a late tick that is gone or locked. */
    private static List<TickPlan> resolveMissed(Session session, List<TickPlan> unordered) throws SQLException {
        Map<UUID, String> ctids = new HashMap<>();
        PlanRows.of(unordered)
                .bindLate(session.query(LOCK_LATE))
                .list(row -> ctids.put(row.uuid("id"), row.text("row_ctid")));
        PlanRows plans = PlanRows.of(unordered.stream()
                .filter(plan -> plan.lateDecisions().stream().allMatch(tick -> ctids.containsKey(tick.run())))
                .toList());
        if (plans.isEmpty()) return List.of();
        return plans.writtenPlans(plans.bindVerdicts(plans.bind(session.query(RESOLVE_MISSED)), ctids));
    }
}
