package io.carillon.postgres;

import static java.util.Objects.requireNonNull;

import io.carillon.run.Lane;
import io.carillon.store.BreakerChange;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Claimed;
import io.carillon.store.GateName;
import io.carillon.store.LaneLoad;
import io.carillon.store.Suspicion;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Claims from lanes that have a limit, or whose breaker is not closed: under the lane's lock, no more than there is room for; and
 * keeps the breakers.
 */
final class LaneGates {
    // A bucket holds what a tenth of a second lets start, and one: so that a node that comes a little late loses
    // nothing, and no more than that can start at once.
    private static final String ROOM = """
            SELECT l.queue, l.project, l.rate, carillon.clock() AS now, l.max_running - held.live AS slots, bucket.tokens,
                   l.breaker, held.live > 0 AS busy, l.count_until IS NOT NULL AS counting,
                   CASE WHEN l.breaker_until <= carillon.clock() + interval '10 min' THEN l.breaker_until END AS breaker_until
              FROM (SELECT DISTINCT queue, project FROM unnest(:queues::text[], :projects::text[]) AS a(queue, project)) asked
              JOIN carillon.lane l ON l.queue = asked.queue AND l.project = asked.project AND l.paused_at IS NULL
                                  AND (l.max_running IS NOT NULL OR l.rate IS NOT NULL OR l.breaker <> 'closed')
              LEFT JOIN carillon.gate g ON g.project = l.project AND g.kind = 'lane' AND g.key = l.queue,
                   LATERAL (SELECT count(*) AS live
                              FROM (SELECT 1 FROM carillon.run r WHERE r.project = l.project AND r.limited_by = l.queue
                                     LIMIT coalesce(l.max_running, 1)) x) held,
                   LATERAL (SELECT CASE WHEN l.rate IS NOT NULL
                                        THEN least(1 + l.rate / 10,
                                                   -- a bucket of the future, after the clock was set back, is a new one
                                                   coalesce(CASE WHEN g.refilled_at <= carillon.clock() + interval '5 s'
                                                                 THEN g.tokens + l.rate * greatest(extract(epoch FROM carillon.clock() - g.refilled_at), 0) END,
                                                            1)) END AS tokens) bucket
            """;

    private static final String AWAIT_LOCK =
            "SELECT pg_advisory_xact_lock(hashtextextended('carillon.gate ' || :project || ' lane:' || :queue, 0))::text AS mine";

    // Counts the runs that were claimed before there was a limit. It waits for no lock: runs that are locked or move
    // meanwhile are counted the next time, and there is a next time until none is left. Parked runs are read at both
    // ends only.
    private static final String COUNT_IN = """
            /* UPDATE carillon.run */
            SELECT l.queue, l.project,
                   carillon.count_in(l.queue, l.project, coalesce(l.count_until = 'infinity' OR l.count_until <= carillon.clock(), true)) AS missed
              FROM unnest(:queues::text[], :projects::text[]) AS e(queue, project)
              JOIN carillon.lane l ON l.queue = e.queue AND l.project = e.project
            """;

    // From the first claim that sees the limit, for longer than a claim that has not may take, and once after that.
    private static final String COUNTED = """
            UPDATE carillon.lane l
               SET count_until = CASE WHEN l.count_until = 'infinity' THEN carillon.clock() + interval '20 s'
                                      WHEN l.count_until > carillon.clock() THEN l.count_until END
              FROM unnest(:queues::text[], :projects::text[]) AS e(queue, project)
             WHERE l.queue = e.queue AND l.project = e.project AND l.count_until IS NOT NULL
            """;

    // Of the classes of a lane each has a chance by its share, however small the room is: a fixed order would
    // starve the last of them.
    private static final String TAKE = AttemptRows.noted("""
            SELECT drawn.place
              FROM (SELECT picked.place, lane.room,
                           row_number() OVER (PARTITION BY lane.queue, lane.project ORDER BY (picked.number - random()) / lane.share) AS number
                      FROM unnest(:queues::text[], :projects::text[], :classes::smallint[], :counts::int[], :lows::timestamptz[],
                                  :handlers::text[], :rooms::int[], :shares::int[])
                             AS lane(queue, project, class, quota, low, handlers, room, share),
                           LATERAL (SELECT place, row_number() OVER () AS number
                                      FROM carillon.pick(lane.queue, lane.project, lane.class, lane.low, least(lane.quota, lane.room),
                                                         string_to_array(lane.handlers, ' '), :strangers::text[]) AS place) picked
                     WHERE :lease::float8 IS NOT NULL
                        OR EXISTS (SELECT 1 FROM carillon.node n WHERE n.id = :owner AND n.dead_at IS NULL)) drawn
             WHERE drawn.number <= drawn.room
            """, ", limited_by = queue");

    private static final String PAY = """
            INSERT INTO carillon.gate (project, kind, key, tokens, refilled_at)
            SELECT e.project, 'lane', e.queue, e.tokens, :now FROM unnest(:projects::text[], :queues::text[], :tokens::float8[])
                AS e(project, queue, tokens)
            ON CONFLICT (project, kind, key) DO UPDATE SET tokens = excluded.tokens, refilled_at = excluded.refilled_at
            """;

    // If its node dies, the run is a suspect and still counts; should it vanish otherwise, a minute later comes
    // another.
    private static final String PROBE = """
            UPDATE carillon.lane l SET breaker = 'half-open', breaker_until = carillon.clock() + interval '1 min'
              FROM unnest(:queues::text[], :projects::text[]) AS e(queue, project)
             WHERE l.queue = e.queue AND l.project = e.project AND l.breaker <> 'closed'
            """;

    private static final String REPORT = """
            INSERT INTO carillon.node_load (queue, project, node, well, failed, at)
            SELECT e.*, carillon.clock()
              FROM (SELECT queue, project, :node::uuid, well, failed
                      FROM unnest(:queues::text[], :projects::text[], :wells::int[], :faileds::int[]) AS l(queue, project, well, failed)) e
            ON CONFLICT (queue, project, node) DO UPDATE SET well = excluded.well, failed = excluded.failed, at = excluded.at
            """;

    // Half of at least twenty attempts in a minute, on all nodes together.
    private static final String OPEN = """
            INSERT INTO carillon.lane AS l (queue, project, breaker, breaker_until)
            SELECT n.queue, n.project, 'open', carillon.clock() + interval '30 s'
              FROM unnest(:queues::text[], :projects::text[]) AS e(queue, project)
              JOIN carillon.node_load n ON n.queue = e.queue AND n.project = e.project AND n.at > carillon.clock() - interval '1 min'
             GROUP BY n.queue, n.project
            HAVING sum(n.well + n.failed) >= 20 AND 2 * sum(n.failed) >= sum(n.well + n.failed)
            ON CONFLICT (queue, project) DO UPDATE
               SET breaker = 'open', breaker_until = excluded.breaker_until, breaker_step = 0
             WHERE l.breaker = 'closed'
            RETURNING queue, project, breaker_until
            """;

    // Whatever ends while it is half-open decides: it was the probe, or as good as one.
    private static final String PROBED_LANES = """
            UPDATE carillon.lane l
               SET breaker = CASE WHEN e.failed > 0 THEN 'open' ELSE 'closed' END,
                   breaker_until = CASE WHEN e.failed > 0
                                        THEN carillon.clock() + least(interval '30 s' * (2 ^ (l.breaker_step + 1)), interval '10 min') END,
                   breaker_step = CASE WHEN e.failed > 0 THEN least(l.breaker_step + 1, 10) ELSE 0 END
              FROM unnest(:queues::text[], :projects::text[], :wells::int[], :faileds::int[]) AS e(queue, project, well, failed)
             WHERE l.queue = e.queue AND l.project = e.project AND l.breaker = 'half-open'
            RETURNING l.queue, l.project, l.breaker_until
            """;

    private static final String FORGET = """
            DELETE FROM carillon.node_load n USING unnest(:queues::text[], :projects::text[]) AS e(queue, project)
             WHERE n.queue = e.queue AND n.project = e.project
            """;

    /** A full lane is asked again after so long, if none of this node's runs made room earlier. */
    private static final Duration FULL = Duration.ofMillis(250);

    /** Somebody may change or lift a limit, or close a breaker by hand: no node keeps away for longer than this. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    /** Where starts are frequent, several at a time. */
    private static final double LEAST_WAIT = 0.02;

    private final Database database;

    LaneGates(Database database) {
        this.database = database;
    }

    /** A breaker that is not closed: until when nothing starts, and whether a probe may be at work. */
    private record Breaker(Instant until, boolean probing) {
        boolean probes(Instant now) {
            return !probing && !until.isAfter(now);
        }

        static @Nullable Breaker read(Row row) throws SQLException {
            String state = row.text("breaker");
            Instant until = row.maybeInstant("breaker_until");
            if ("closed".equals(state)) return null;
            return new Breaker(until == null ? Instant.MIN : until, "half-open".equals(state) && row.flag("busy"));
        }
    }

    /** What a lane's limits leave: free slots and starts, where they are limited. */
    private record Room(
            Lane lane,
            Instant now,
            @Nullable Integer slots,
            @Nullable Double rate,
            @Nullable Double tokens,
            @Nullable Breaker breaker,
            boolean counting) {
        int runs() {
            if (breaker != null && !breaker.probes(now)) return 0;
            int starts = breaker != null ? 1 : Integer.MAX_VALUE;
            if (tokens != null) starts = Math.min(starts, (int) Math.floor(tokens));
            return Math.max(0, slots == null ? starts : Math.min(slots, starts));
        }

        double left(int taken) {
            return tokens == null ? 0 : tokens - taken;
        }

        /** Until when there is no use in asking again. */
        Instant shut(int taken) {
            Duration wait = LONGEST_WAIT;
            if (breaker != null) wait = breaker.until().isAfter(now) ? Duration.between(now, breaker.until()) : wait;
            else if (slots != null && slots <= taken) wait = FULL;
            else if (rate != null) wait = DatabaseTime.duration(Math.max(LEAST_WAIT, (1 - left(taken)) / rate));
            return now.plus(wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT);
        }

        static Room read(Row row) throws SQLException {
            return new Room(
                    GateRepository.lane(row),
                    row.instant("now"),
                    row.maybeInteger("slots"),
                    row.maybeReal("rate"),
                    row.maybeReal("tokens"),
                    Breaker.read(row),
                    row.flag("counting"));
        }
    }

    /** Waits for the lane's lock, which claims of it take: to the end of the transaction none of them counts. */
    static void await(Session session, Lane lane) throws SQLException {
        session.query(AWAIT_LOCK)
                .text("project", lane.project())
                .text("queue", lane.queue())
                .list(row -> row.text("mine"));
    }

    /** Under the lanes' locks: lets runs count that were claimed before the limit was there. Returns the lanes of which all count now. */
    static List<Lane> countIn(Session session, List<Lane> lanes) throws SQLException {
        List<Lane> whole = new ArrayList<>();
        lanes(session.query(COUNT_IN), lanes)
                .list(row -> row.number("missed") > 0 || whole.add(GateRepository.lane(row)));
        return whole;
    }

    /** The count is a statement of its own, after the lock was had: in one with it, it would be as old as the moment before. */
    Claimed claim(ClaimRequest request) {
        return database.transaction(session -> {
            Set<Lane> mine = lock(
                    session,
                    request.quotas().stream().map(ClaimRequest.Quota::lane).collect(Collectors.toSet()));
            Map<Lane, Room> rooms = counted(session, rooms(session, mine));
            List<ClaimRequest.Quota> quotas = request.quotas().stream()
                    .filter(quota -> rooms.containsKey(quota.lane())
                            && rooms.get(quota.lane()).runs() > 0)
                    .toList();
            Claimed claimed = quotas.isEmpty()
                    ? new Claimed(List.of(), List.of(), Map.of())
                    : take(session, request.of(quotas), rooms);
            Map<Lane, Integer> taken = new HashMap<>();
            claimed.attempts().forEach(attempt -> taken.merge(attempt.lane(), 1, Integer::sum));
            pay(session, rooms, taken);
            probe(session, rooms, taken);
            Map<Lane, Instant> shut = new HashMap<>();
            rooms.forEach((lane, room) -> {
                int count = taken.getOrDefault(lane, 0);
                if (count >= room.runs()) shut.put(lane, room.shut(count));
            });
            return new Claimed(claimed.attempts(), claimed.readyAt(), shut);
        });
    }

    /** Where a limit is new: what claims took that began before it. */
    private static Map<Lane, Room> counted(Session session, Map<Lane, Room> rooms) throws SQLException {
        List<Lane> counting =
                rooms.values().stream().filter(Room::counting).map(Room::lane).toList();
        if (counting.isEmpty()) return rooms;
        List<Lane> whole = countIn(session, counting);
        if (!whole.isEmpty()) lanes(session.query(COUNTED), whole).update();
        return rooms(session, rooms.keySet());
    }

    /** A run that waits for isolation; the lane, where it has no place under the lane's limit. */
    record Suspect(Suspicion.Candidate candidate, @Nullable Lane lane) {
        static Suspect read(Row row) throws SQLException {
            return new Suspect(
                    new Suspicion.Candidate(row.text("place"), row.text("target_name"), row.integer("suspect")),
                    row.flag("without_place") ? GateRepository.lane(row) : null);
        }
    }

    /**
     * Leaves out suspects for which the limit of their lane has no place. Suspects hold theirs from their last attempt, unless no living node had their
     * handler. The lanes of the others are locked to the end of the transaction.
     */
    static List<Suspicion.Candidate> withPlace(Session session, List<Suspect> suspects) throws SQLException {
        Set<Lane> asked = new HashSet<>();
        suspects.forEach(one -> {
            if (one.lane() != null) asked.add(one.lane());
        });
        Map<Lane, Room> rooms = asked.isEmpty() ? Map.of() : rooms(session, lock(session, asked));
        Map<Lane, Integer> taken = new HashMap<>();
        return suspects.stream()
                .filter(one -> {
                    Lane lane = one.lane();
                    if (lane == null) return true;
                    Room room = rooms.get(lane);
                    Integer slots = room == null ? Integer.valueOf(0) : room.slots();
                    return slots == null || taken.merge(lane, 1, Integer::sum) <= slots;
                })
                .map(Suspect::candidate)
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

    private static Map<Lane, Room> rooms(Session session, Set<Lane> lanes) throws SQLException {
        List<Lane> asked = List.copyOf(lanes);
        Map<Lane, Room> rooms = new HashMap<>();
        if (asked.isEmpty()) return rooms;
        session.query(ROOM)
                .column("queues", "text", asked, Lane::queue)
                .column("projects", "text", asked, Lane::project)
                .list(Room::read)
                .forEach(room -> rooms.put(room.lane(), room));
        return rooms;
    }

    private static Claimed take(Session session, ClaimRequest request, Map<Lane, Room> rooms) throws SQLException {
        return AttemptRows.claimed(
                AttemptRows.asked(session.query(TAKE), request)
                        .column(
                                "rooms",
                                "int4",
                                request.quotas(),
                                quota -> requireNonNull(rooms.get(quota.lane())).runs())
                        .column(
                                "shares",
                                "int4",
                                request.quotas(),
                                quota -> quota.priority().share()),
                Map.of());
    }

    private static void pay(Session session, Map<Lane, Room> rooms, Map<Lane, Integer> taken) throws SQLException {
        List<Room> paying = rooms.values().stream()
                .filter(room -> room.rate() != null && taken.containsKey(room.lane()))
                .toList();
        if (paying.isEmpty()) return;
        session.query(PAY)
                .instant("now", paying.get(0).now())
                .column("projects", "text", paying, room -> room.lane().project())
                .column("queues", "text", paying, room -> room.lane().queue())
                .column("tokens", "float8", paying, room -> room.left(requireNonNull(taken.get(room.lane()))))
                .update();
    }

    private static void probe(Session session, Map<Lane, Room> rooms, Map<Lane, Integer> taken) throws SQLException {
        List<Lane> probed = rooms.values().stream()
                .filter(room -> room.breaker() != null && taken.containsKey(room.lane()))
                .map(Room::lane)
                .toList();
        if (!probed.isEmpty()) lanes(session.query(PROBE), probed).update();
    }

    private static Query lanes(Query query, List<Lane> lanes) throws SQLException {
        return query.column("queues", "text", lanes, Lane::queue).column("projects", "text", lanes, Lane::project);
    }

    List<BreakerChange> report(UUID node, List<LaneLoad> loads) {
        return database.single(session -> {
            List<LaneLoad> ordered = loads.stream()
                    .sorted(Comparator.comparing((LaneLoad load) -> load.lane().queue())
                            .thenComparing(load -> load.lane().project()))
                    .toList();
            loaded(session.query(REPORT).uuid("node", node), ordered).update();
            List<BreakerChange> changes =
                    new ArrayList<>(loaded(session.query(PROBED_LANES), ordered).list(LaneGates::change));
            List<Lane> failing = ordered.stream()
                    .filter(load -> load.failed() > 0)
                    .map(LaneLoad::lane)
                    .toList();
            if (!failing.isEmpty())
                changes.addAll(lanes(session.query(OPEN), failing).list(LaneGates::change));
            List<Lane> changed = changes.stream().map(BreakerChange::lane).toList();
            if (!changed.isEmpty()) lanes(session.query(FORGET), changed).update();
            return changes;
        });
    }

    private static Query loaded(Query query, List<LaneLoad> loads) throws SQLException {
        return query.column("queues", "text", loads, load -> load.lane().queue())
                .column("projects", "text", loads, load -> load.lane().project())
                .column("wells", "int4", loads, LaneLoad::well)
                .column("faileds", "int4", loads, LaneLoad::failed);
    }

    private static BreakerChange change(Row row) throws SQLException {
        return new BreakerChange(GateRepository.lane(row), row.maybeInstant("breaker_until"));
    }
}
