package io.carillon.internal.postgres.limit;

import static java.util.Objects.requireNonNull;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.DatabaseTime;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.ClaimResult;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.IsolationRule;
import io.carillon.run.RunId;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The claims from lanes with a limit or a breaker that is not closed, under the lane's lock. */
public final class LaneLimits {
    // A bucket holds the starts of a tenth of a second, plus one: a node that comes a little late loses no starts, and
    // no more than these can start at the same time.
    private static final String LANE_CAPACITY = """
            SELECT l.queue, l.project, l.rate, carillon.clock() AS now, l.max_running - counted.running AS free_slots,
                   bucket.available_starts,
                   l.breaker, counted.running > 0 AS has_running, l.recount_until IS NOT NULL AS recounting,
                   CASE WHEN l.breaker_until <= carillon.clock() + interval '10 min'
                     THEN l.breaker_until END AS breaker_until
              FROM (SELECT DISTINCT queue, project
                FROM unnest(:queues::text[], :projects::text[]) AS a(queue, project)) requested
              JOIN carillon.lane l ON l.queue = requested.queue AND l.project = requested.project
                AND l.paused_at IS NULL
                                  AND (l.max_running IS NOT NULL OR l.rate IS NOT NULL OR l.breaker <> 'closed')
              LEFT JOIN carillon.gate g ON g.project = l.project AND g.kind = 'lane' AND g.key = l.queue,
                   LATERAL (SELECT count(*) AS running
                              FROM (SELECT 1 FROM carillon.run r WHERE r.project = l.project AND r.limited_by = l.queue
                                     LIMIT coalesce(l.max_running, 1)) x) counted,
                   LATERAL (SELECT CASE WHEN l.rate IS NOT NULL
                                        THEN least(1 + l.rate / 10,
                                                   -- after the clock was set back, replaces a bucket from the future
                                                   coalesce(CASE WHEN g.checked_at <= carillon.clock() + interval '5 s'
                                                                 THEN g.available_starts + l.rate * greatest(
                                                                        extract(epoch FROM carillon.clock()
                                                                                           - g.checked_at), 0) END,
                                                            1)) END AS available_starts) bucket
            """;

    private static final String WAIT_FOR_LOCK =
            "SELECT pg_advisory_xact_lock(hashtextextended('carillon.gate ' || :project || ' lane:' || :queue,"
                    + " 0))::text AS locked";

    // Counts the runs that were claimed before the limit existed. The statement waits for no lock: runs that are locked
    // or move meanwhile are counted the next time, and it is repeated until none is left. Parked runs are read the
    // first and the last time only.
    private static final String MARK_RUNNING_AS_LIMITED = """
            /* UPDATE carillon.run */
            SELECT l.queue, l.project,
                   carillon.mark_running_as_limited(l.queue, l.project,
                     coalesce(l.recount_until = 'infinity' OR l.recount_until <= carillon.clock(), true)) AS unmarked
              FROM unnest(:queues::text[], :projects::text[]) AS e(queue, project)
              JOIN carillon.lane l ON l.queue = e.queue AND l.project = e.project
            """;

    // The recount lasts from the first claim that sees the limit for 20 s, which is longer than a claim that has not
    // seen it may take, and ends with one more count.
    private static final String FINISH_RECOUNT = """
            UPDATE carillon.lane l
               SET recount_until = CASE WHEN l.recount_until = 'infinity' THEN carillon.clock() + interval '20 s'
                                      WHEN l.recount_until > carillon.clock() THEN l.recount_until END
              FROM unnest(:queues::text[], :projects::text[]) AS e(queue, project)
             WHERE l.queue = e.queue AND l.project = e.project AND l.recount_until IS NOT NULL
            """;

    // Each priority is chosen by its share, however little the lane allows: a fixed order would starve the last.
    private static final String CLAIM_LIMITED = AttemptRows.claimStatement("""
            SELECT ranked.row_ctid
              FROM (SELECT candidate.row_ctid, lane.capacity,
                           row_number() OVER (PARTITION BY lane.queue, lane.project
                             ORDER BY (candidate.number - random()) / lane.share) AS number
                      FROM unnest(:queues::text[], :projects::text[], :priorities::smallint[], :counts::int[],
                        :readyFroms::timestamptz[],
                                  :handlers::text[], :capacities::int[], :shares::int[])
                             AS lane(queue, project, priority, wanted, ready_from, handlers, capacity, share),
                           LATERAL (SELECT row_ctid, row_number() OVER () AS number
                                      FROM carillon.claim_candidates(lane.queue, lane.project, lane.priority,
                                        lane.ready_from, least(lane.wanted, lane.capacity),
                                                         string_to_array(lane.handlers, ' '),
                                                         :unknownHandlers::text[]) AS row_ctid) candidate
                     WHERE :lease::float8 IS NOT NULL
                        OR EXISTS (SELECT 1 FROM carillon.node n WHERE n.id = :owner AND n.dead_at IS NULL)) ranked
             WHERE ranked.number <= ranked.capacity
            """, ", limited_by = queue");

    private static final String CLAIM_LIMITED_RUN =
            AttemptRows.claimStatement(AttemptRows.CLAIMABLE_RUN + """
             ORDER BY r.id LIMIT 1
               FOR UPDATE SKIP LOCKED
            """, ", limited_by = queue");

    private static final String SAVE_BUCKET = """
            INSERT INTO carillon.gate (project, kind, key, available_starts, checked_at)
            SELECT e.project, 'lane', e.queue, e.available_starts, :now
              FROM unnest(:projects::text[], :queues::text[], :availableStarts::float8[])
                AS e(project, queue, available_starts)
            ON CONFLICT (project, kind, key) DO UPDATE SET available_starts = excluded.available_starts,
              checked_at = excluded.checked_at
            """;

    // If the node of the probe dies, the run is isolated and still counts. If the run disappears for another reason,
    // the next probe follows after a minute.
    private static final String MARK_PROBE = """
            UPDATE carillon.lane l SET breaker = 'half-open', breaker_until = carillon.clock() + interval '1 min'
              FROM unnest(:queues::text[], :projects::text[]) AS e(queue, project)
             WHERE l.queue = e.queue AND l.project = e.project AND l.breaker <> 'closed'
            """;

    /** A full lane is claimed from again after this time, unless a run of this node ends earlier. */
    private static final Duration FULL_LANE_WAIT = Duration.ofMillis(250);

    /** An operator may change or remove a limit, or close a breaker: no node waits longer than this. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    /** Where starts are frequent, one claim takes several of them. */
    private static final double SHORTEST_WAIT_SECONDS = 0.02;

    private final Database database;

    public LaneLimits(Database database) {
        this.database = database;
    }

    /** A breaker that is not closed: the instant until which nothing starts, and whether a probe may be running. */
    private record Breaker(Instant until, boolean probing) {
        boolean mayProbe(Instant now) {
            return !probing && !until.isAfter(now);
        }

        static @Nullable Breaker read(Row row) throws SQLException {
            String state = row.text("breaker");
            Instant until = row.maybeInstant("breaker_until");
            if ("closed".equals(state)) return null;
            return new Breaker(
                    until == null ? Instant.MIN : until, "half-open".equals(state) && row.flag("has_running"));
        }
    }

    /** The capacity of a lane; slots, rate and starts are null without that limit, breaker is null if closed. */
    private record LaneCapacity(
            Lane lane,
            Instant now,
            @Nullable Integer freeSlots,
            @Nullable Double rate,
            @Nullable Double availableStarts,
            @Nullable Breaker breaker,
            boolean recounting) {
        int claimable() {
            if (breaker != null && !breaker.mayProbe(now)) return 0;
            int starts = breaker != null ? 1 : Integer.MAX_VALUE;
            if (availableStarts != null) starts = Math.min(starts, (int) Math.floor(availableStarts));
            return Math.max(0, freeSlots == null ? starts : Math.min(freeSlots, starts));
        }

        double startsLeft(int taken) {
            return availableStarts == null ? 0 : availableStarts - taken;
        }

        /** Returns the instant before which another claim is useless. */
        Instant retryAt(int taken) {
            Duration wait = LONGEST_WAIT;
            if (breaker != null) wait = breaker.until().isAfter(now) ? Duration.between(now, breaker.until()) : wait;
            else if (freeSlots != null && freeSlots <= taken) wait = FULL_LANE_WAIT;
            else if (rate != null)
                wait = DatabaseTime.duration(Math.max(SHORTEST_WAIT_SECONDS, (1 - startsLeft(taken)) / rate));
            return now.plus(wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT);
        }

        static LaneCapacity read(Row row) throws SQLException {
            return new LaneCapacity(
                    GateRepository.readLane(row),
                    row.instant("now"),
                    row.maybeInteger("free_slots"),
                    row.maybeReal("rate"),
                    row.maybeReal("available_starts"),
                    Breaker.read(row),
                    row.flag("recounting"));
        }
    }

    /** Waits for the lane's lock, which every claim takes: none counts runs until the end of the transaction. */
    static void waitForLock(Session session, Lane lane) throws SQLException {
        session.query(WAIT_FOR_LOCK)
                .text("project", lane.project())
                .text("queue", lane.queue())
                .list(row -> row.text("locked"));
    }

    /** Counts runs claimed before the limit existed, under the lanes' locks; returns the lanes that are complete. */
    static List<Lane> markRunningAsLimited(Session session, List<Lane> lanes) throws SQLException {
        List<Lane> complete = new ArrayList<>();
        bindLanes(session.query(MARK_RUNNING_AS_LIMITED), lanes)
                .list(row -> row.number("unmarked") > 0 || complete.add(GateRepository.readLane(row)));
        return complete;
    }

    /**
     * Claims under the lanes' locks. A separate statement counts after the lock was acquired: in one statement with the
     * lock, the count would come from an older snapshot.
     */
    ClaimResult claim(ClaimRequest request) {
        return database.transaction(session -> {
            Set<Lane> mine = lock(
                    session,
                    request.laneClaims().stream()
                            .map(ClaimRequest.LaneClaim::lane)
                            .collect(Collectors.toSet()));
            Map<Lane, LaneCapacity> capacities = recount(session, readCapacities(session, mine));
            List<ClaimRequest.LaneClaim> laneClaims = request.laneClaims().stream()
                    .filter(laneClaim -> capacities.containsKey(laneClaim.lane())
                            && capacities.get(laneClaim.lane()).claimable() > 0)
                    .toList();
            ClaimResult claimResult = laneClaims.isEmpty()
                    ? new ClaimResult(List.of(), List.of(), Map.of())
                    : claimLimited(session, request.withLaneClaims(laneClaims), capacities);
            Map<Lane, Integer> taken = new HashMap<>();
            claimResult.attempts().forEach(attempt -> taken.merge(attempt.lane(), 1, Integer::sum));
            saveBuckets(session, capacities, taken);
            markProbes(session, capacities, taken);
            Map<Lane, Instant> fullLanes = new HashMap<>();
            capacities.forEach((lane, laneCapacity) -> {
                int count = taken.getOrDefault(lane, 0);
                if (count >= laneCapacity.claimable()) fullLanes.put(lane, laneCapacity.retryAt(count));
            });
            return new ClaimResult(claimResult.attempts(), claimResult.readyAt(), fullLanes);
        });
    }

    /** Counts, where a limit is new, the runs of claims that began before it, and returns the capacities after that. */
    private static Map<Lane, LaneCapacity> recount(Session session, Map<Lane, LaneCapacity> capacities)
            throws SQLException {
        List<Lane> counting = capacities.values().stream()
                .filter(LaneCapacity::recounting)
                .map(LaneCapacity::lane)
                .toList();
        if (counting.isEmpty()) return capacities;
        List<Lane> complete = markRunningAsLimited(session, counting);
        if (!complete.isEmpty())
            bindLanes(session.query(FINISH_RECOUNT), complete).update();
        return readCapacities(session, capacities.keySet());
    }

    /** An isolated run; {@code lane} is its lane if it needs a slot under the lane's limit, otherwise null. */
    public record IsolatedRun(
            IsolationRule.IsolationCandidate isolationCandidate,
            @Nullable Lane lane) {
        public static IsolatedRun read(Row row) throws SQLException {
            return new IsolatedRun(
                    new IsolationRule.IsolationCandidate(
                            row.text("row_ctid"), row.text("target_name"), row.integer("node_deaths")),
                    row.flag("needs_lane_slot") ? GateRepository.readLane(row) : null);
        }
    }

    /**
     * Removes isolated runs for which the limit of their lane has no slot. An isolated run keeps the slot of its
     * last attempt, unless no live node had its handler. The lanes of runs without a slot are locked until the end
     * of the transaction.
     */
    public static List<IsolationRule.IsolationCandidate> withinLaneLimits(
            Session session, List<IsolatedRun> isolatedRuns) throws SQLException {
        Set<Lane> asked = new HashSet<>();
        isolatedRuns.forEach(one -> {
            if (one.lane() != null) asked.add(one.lane());
        });
        Map<Lane, LaneCapacity> capacities = asked.isEmpty() ? Map.of() : readCapacities(session, lock(session, asked));
        Map<Lane, Integer> taken = new HashMap<>();
        return isolatedRuns.stream()
                .filter(one -> {
                    Lane lane = one.lane();
                    if (lane == null) return true;
                    LaneCapacity laneCapacity = capacities.get(lane);
                    Integer slots = laneCapacity == null ? Integer.valueOf(0) : laneCapacity.freeSlots();
                    return slots == null || taken.merge(lane, 1, Integer::sum) <= slots;
                })
                .map(IsolatedRun::isolationCandidate)
                .toList();
    }

    private static Set<Lane> lock(Session session, Set<Lane> lanes) throws SQLException {
        Map<GateName, Lane> gates = new HashMap<>();
        lanes.forEach(lane -> gates.put(new GateName(lane.project(), "lane:" + lane.queue()), lane));
        Set<Lane> mine = new HashSet<>();
        GateRepository.lock(session, List.copyOf(gates.keySet())).forEach(gate -> {
            Lane lane = gates.get(gate);
            if (lane != null) mine.add(lane);
        });
        return mine;
    }

    private static Map<Lane, LaneCapacity> readCapacities(Session session, Set<Lane> lanes) throws SQLException {
        List<Lane> asked = List.copyOf(lanes);
        Map<Lane, LaneCapacity> capacities = new HashMap<>();
        if (asked.isEmpty()) return capacities;
        session.query(LANE_CAPACITY)
                .column("queues", "text", asked, Lane::queue)
                .column("projects", "text", asked, Lane::project)
                .list(LaneCapacity::read)
                .forEach(laneCapacity -> capacities.put(laneCapacity.lane(), laneCapacity));
        return capacities;
    }

    private static ClaimResult claimLimited(Session session, ClaimRequest request, Map<Lane, LaneCapacity> capacities)
            throws SQLException {
        RunId run = request.run();
        if (run != null)
            return AttemptRows.readClaimed(
                    AttemptRows.bindRun(session.query(CLAIM_LIMITED_RUN), request, run), Map.of());
        return AttemptRows.readClaimed(
                AttemptRows.bindRequest(session.query(CLAIM_LIMITED), request)
                        .column(
                                "capacities",
                                "int4",
                                request.laneClaims(),
                                laneClaim -> requireNonNull(capacities.get(laneClaim.lane()))
                                        .claimable())
                        .column(
                                "shares",
                                "int4",
                                request.laneClaims(),
                                laneClaim -> laneClaim.priority().share()),
                Map.of());
    }

    private static void saveBuckets(Session session, Map<Lane, LaneCapacity> capacities, Map<Lane, Integer> taken)
            throws SQLException {
        List<LaneCapacity> changed = capacities.values().stream()
                .filter(laneCapacity -> laneCapacity.rate() != null && taken.containsKey(laneCapacity.lane()))
                .toList();
        if (changed.isEmpty()) return;
        session.query(SAVE_BUCKET)
                .instant("now", changed.get(0).now())
                .column(
                        "projects",
                        "text",
                        changed,
                        laneCapacity -> laneCapacity.lane().project())
                .column(
                        "queues",
                        "text",
                        changed,
                        laneCapacity -> laneCapacity.lane().queue())
                .column(
                        "availableStarts",
                        "float8",
                        changed,
                        laneCapacity -> laneCapacity.startsLeft(requireNonNull(taken.get(laneCapacity.lane()))))
                .update();
    }

    private static void markProbes(Session session, Map<Lane, LaneCapacity> capacities, Map<Lane, Integer> taken)
            throws SQLException {
        List<Lane> probed = capacities.values().stream()
                .filter(laneCapacity -> laneCapacity.breaker() != null && taken.containsKey(laneCapacity.lane()))
                .map(LaneCapacity::lane)
                .toList();
        if (!probed.isEmpty()) bindLanes(session.query(MARK_PROBE), probed).update();
    }

    static Query bindLanes(Query query, List<Lane> lanes) throws SQLException {
        return query.column("queues", "text", lanes, Lane::queue).column("projects", "text", lanes, Lane::project);
    }
}
