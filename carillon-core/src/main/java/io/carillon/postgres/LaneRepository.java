package io.carillon.postgres;

import static java.util.Objects.requireNonNull;

import io.carillon.run.Lane;
import io.carillon.run.Limits;
import io.carillon.run.Priority;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Claimed;
import io.carillon.store.GateName;
import io.carillon.store.LaneDue;
import io.carillon.store.LaneInfo;
import io.carillon.store.LaneStore;
import io.carillon.store.Look;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds the lanes that have work, keeps what people decided about them, and claims from those that have a limit. */
final class LaneRepository implements LaneStore {
    private static final int HEAD = 200;

    // Paused lanes are left out after the head was read, not while reading it: their backlog may be long. What was read
    // still counts, so that somebody scans behind it.
    private static final String LOOK = """
            WITH head AS MATERIALIZED (
              SELECT queue, project, class, ready_at FROM carillon.run
               WHERE ready_at >= :low AND ready_at < 'infinity' AND owner IS NULL AND start_by > carillon.clock()
               ORDER BY ready_at LIMIT 200)
            SELECT t.*, lane.*
              FROM (SELECT carillon.clock() AS now, (SELECT count(*) FROM head) AS seen, l.queues AS limited_queues, l.projects AS limited_projects,
                           EXISTS (SELECT 1 FROM carillon.run WHERE parked = 'suspect' AND owner IS NULL) AS suspects
                      FROM (SELECT array_agg(queue) AS queues, array_agg(project) AS projects FROM carillon.lane
                             WHERE max_running IS NOT NULL OR rate IS NOT NULL) l) t
              LEFT JOIN (SELECT queue, project, class, min(ready_at) AS ready_at
                           FROM head
                          WHERE NOT EXISTS (SELECT 1 FROM carillon.lane p
                                             WHERE p.queue = head.queue AND p.project = head.project AND p.paused_at IS NOT NULL)
                          GROUP BY queue, project, class) lane ON true
            """;

    // From lane to lane over the index: about 12 µs each, however many runs they hold.
    static final String LANES = """
            WITH RECURSIVE lane AS (
              (SELECT queue, project, class FROM carillon.run ORDER BY queue, project, class LIMIT 1)
              UNION ALL
              SELECT next.queue, next.project, next.class
                FROM lane, LATERAL (SELECT r.queue, r.project, r.class FROM carillon.run r
                                     WHERE (r.queue, r.project, r.class) > (lane.queue, lane.project, lane.class)
                                     ORDER BY r.queue, r.project, r.class LIMIT 1) next)
            """;

    private static final String SCAN = LANES + """
            SELECT lane.queue, lane.project, lane.class, first.ready_at
              FROM lane, LATERAL (SELECT r.ready_at FROM carillon.run r
                                   WHERE r.queue = lane.queue AND r.project = lane.project AND r.class = lane.class
                                     AND r.ready_at <> 'infinity' AND r.owner IS NULL AND r.start_by > carillon.clock()
                                   ORDER BY r.ready_at LIMIT 1) first
             WHERE NOT EXISTS (SELECT 1 FROM carillon.lane p
                                WHERE p.queue = lane.queue AND p.project = lane.project AND p.paused_at IS NOT NULL)
            """;

    private static final String PAUSE = """
            INSERT INTO carillon.lane AS l (queue, project, paused_at, paused_by, paused_reason)
            VALUES (:queue, :project, carillon.clock(), :by, :reason)
            ON CONFLICT (queue, project) DO UPDATE
               SET paused_at = excluded.paused_at, paused_by = excluded.paused_by, paused_reason = excluded.paused_reason
             WHERE l.paused_at IS NULL
            """;

    private static final String RESUME = """
            UPDATE carillon.lane SET paused_at = NULL, paused_by = NULL, paused_reason = NULL
             WHERE queue = :queue AND project = :project AND paused_at IS NOT NULL
            """;

    private static final String LIMIT = """
            INSERT INTO carillon.lane (queue, project, max_running, rate) VALUES (:queue, :project, :running, :rate::float8)
            ON CONFLICT (queue, project) DO UPDATE SET max_running = excluded.max_running, rate = excluded.rate
            """;

    // What was claimed while there was no limit.
    private static final String COUNT_IN = """
            UPDATE carillon.run SET limited_by = queue
             WHERE queue = :queue AND project = :project AND limited_by IS NULL AND (owner IS NOT NULL OR parked = 'suspect')
            """;

    // A bucket holds what a tenth of a second lets start, and one: so that a node that comes a little late loses
    // nothing, and no more than that can start at once.
    private static final String ROOM = """
            SELECT l.queue, l.project, l.rate, carillon.clock() AS now, l.max_running - held.live AS slots, bucket.tokens
              FROM (SELECT DISTINCT queue, project FROM unnest(:queues::text[], :projects::text[]) AS a(queue, project)) asked
              JOIN carillon.lane l ON l.queue = asked.queue AND l.project = asked.project AND l.paused_at IS NULL
                                  AND (l.max_running IS NOT NULL OR l.rate IS NOT NULL)
              LEFT JOIN carillon.gate g ON g.project = l.project AND g.kind = 'lane' AND g.key = l.queue,
                   LATERAL (SELECT count(*) AS live
                              FROM (SELECT 1 FROM carillon.run r WHERE r.project = l.project AND r.limited_by = l.queue
                                     LIMIT coalesce(l.max_running, 0)) x) held,
                   LATERAL (SELECT CASE WHEN l.rate IS NOT NULL
                                        THEN least(1 + l.rate / 10,
                                                   coalesce(g.tokens + l.rate * greatest(extract(epoch FROM carillon.clock() - g.refilled_at), 0),
                                                            1)) END AS tokens) bucket
            """;

    // Of the classes of a lane each has a chance by its share, however small the room is: a fixed order would starve
    // the
    // last of them.
    private static final String TAKE = """
            UPDATE carillon.run
               SET owner = :owner, attempt = attempt + 1, started_at = carillon.clock(), limited_by = queue,
                   leased_until = carillon.clock() + make_interval(secs => :lease)
             WHERE ctid = any(array(
               SELECT drawn.place
                 FROM (SELECT picked.place, lane.room,
                              row_number() OVER (PARTITION BY lane.queue, lane.project ORDER BY (picked.number - random()) / lane.share) AS number
                         FROM unnest(:queues::text[], :projects::text[], :classes::smallint[], :counts::int[], :lows::timestamptz[],
                                     :rooms::int[], :shares::int[]) AS lane(queue, project, class, quota, low, room, share),
                              LATERAL (SELECT first.place, row_number() OVER () AS number
                                         FROM (SELECT r.ctid AS place FROM carillon.run r
                                                WHERE r.queue = lane.queue AND r.project = lane.project AND r.class = lane.class
                                                  AND r.ready_at BETWEEN lane.low AND carillon.clock()
                                                  AND r.start_by > carillon.clock() AND r.owner IS NULL
                                                  AND r.target_name <> ALL (:strangers::text[])
                                                ORDER BY r.ready_at LIMIT least(lane.quota, lane.room)
                                                FOR UPDATE SKIP LOCKED) first) picked
                        WHERE :lease::float8 IS NOT NULL
                           OR EXISTS (SELECT 1 FROM carillon.node n WHERE n.id = :owner AND n.dead_at IS NULL)) drawn
                WHERE drawn.number <= drawn.room))
            RETURNING\s""" + AttemptRows.COLUMNS;

    private static final String PAY = """
            INSERT INTO carillon.gate (project, kind, key, tokens, refilled_at)
            SELECT e.project, 'lane', e.queue, e.tokens, :now FROM unnest(:projects::text[], :queues::text[], :tokens::float8[])
                AS e(project, queue, tokens)
            ON CONFLICT (project, kind, key) DO UPDATE SET tokens = excluded.tokens, refilled_at = excluded.refilled_at
            """;

    /** A full lane is asked again after so long, if none of this node's runs made room earlier. */
    private static final Duration FULL = Duration.ofMillis(250);

    /** Where starts are frequent, several at a time. */
    private static final double LEAST_WAIT = 0.02;

    // Counts are bounded: a page about queues must not read a million rows.
    private static final String LIST = """
            WITH RECURSIVE name AS (
              (SELECT queue FROM carillon.run ORDER BY queue LIMIT 1)
              UNION ALL
              SELECT next.queue
                FROM name, LATERAL (SELECT r.queue FROM carillon.run r WHERE r.queue > name.queue ORDER BY r.queue LIMIT 1) next),
            known AS (SELECT queue FROM name UNION SELECT queue FROM carillon.lane WHERE project = :project)
            SELECT k.queue, l.paused_at, l.paused_by, l.paused_reason, l.max_running, l.rate, c.waiting, c.running
              FROM known k
              LEFT JOIN carillon.lane l ON l.queue = k.queue AND l.project = :project,
                   LATERAL (SELECT count(*) FILTER (WHERE owner IS NULL) AS waiting, count(*) FILTER (WHERE owner IS NOT NULL) AS running
                              FROM (SELECT owner FROM carillon.run r WHERE r.queue = k.queue AND r.project = :project LIMIT 10000) head) c
             WHERE l.queue IS NOT NULL OR c.waiting + c.running > 0
             ORDER BY k.queue
            """;

    private final Database database;

    LaneRepository(Database database) {
        this.database = database;
    }

    @Override
    public Look look(Instant low) {
        List<LaneDue> lanes = new ArrayList<>();
        Set<Lane> limited = new HashSet<>();
        record Head(Instant now, boolean suspects, long seen) {}
        List<Head> heads = database.single(session -> {
            lanes.clear();
            return session.query(LOOK).instant("low", low).list(row -> {
                if (row.maybeText("queue") != null) lanes.add(due(row));
                if (limited.isEmpty()) limited.addAll(limited(row));
                return new Head(row.instant("now"), row.flag("suspects"), row.number("seen"));
            });
        });
        Head head = heads.get(0);
        return new Look(lanes, head.now(), head.seen() >= HEAD, head.suspects(), limited);
    }

    private static List<Lane> limited(Row row) throws SQLException {
        List<String> queues = row.texts("limited_queues");
        List<String> projects = row.texts("limited_projects");
        List<Lane> lanes = new ArrayList<>();
        for (int i = 0; i < queues.size(); i++) lanes.add(new Lane(queues.get(i), projects.get(i)));
        return lanes;
    }

    /** What a lane's limits leave: free slots and starts, where they are limited. */
    private record Room(
            Lane lane,
            Instant now,
            @Nullable Integer slots,
            @Nullable Double rate,
            @Nullable Double tokens) {
        int runs() {
            int starts = tokens == null ? Integer.MAX_VALUE : (int) Math.floor(tokens);
            return Math.max(0, slots == null ? starts : Math.min(slots, starts));
        }

        double left(int taken) {
            return tokens == null ? 0 : tokens - taken;
        }

        /** Until when there is no use in asking again. */
        Instant shut(int taken) {
            if (slots != null && slots <= taken) return now.plus(FULL);
            double wait = rate == null ? 0 : Math.max(LEAST_WAIT, (1 - left(taken)) / rate);
            return now.plusNanos((long) (wait * 1e9));
        }

        static Room read(Row row) throws SQLException {
            return new Room(
                    LaneRepository.lane(row),
                    row.instant("now"),
                    row.maybeInteger("slots"),
                    row.maybeReal("rate"),
                    row.maybeReal("tokens"));
        }
    }

    /** The count is a statement of its own, after the lock was had: in one with it, it would be as old as the moment before. */
    @Override
    public Claimed claim(ClaimRequest request) {
        return database.transaction(session -> {
            Set<Lane> mine = lock(session, request.quotas());
            Map<Lane, Room> rooms = rooms(session, mine);
            List<ClaimRequest.Quota> quotas = request.quotas().stream()
                    .filter(quota -> rooms.containsKey(quota.lane())
                            && rooms.get(quota.lane()).runs() > 0)
                    .toList();
            Claimed claimed = quotas.isEmpty()
                    ? new Claimed(List.of(), List.of(), Map.of())
                    : take(
                            session,
                            new ClaimRequest(request.owner(), quotas, request.strangers(), request.lease()),
                            rooms);
            Map<Lane, Integer> taken = new HashMap<>();
            claimed.attempts().forEach(attempt -> taken.merge(attempt.lane(), 1, Integer::sum));
            pay(session, rooms, taken);
            Map<Lane, Instant> shut = new HashMap<>();
            rooms.forEach((lane, room) -> {
                int count = taken.getOrDefault(lane, 0);
                if (count >= room.runs()) shut.put(lane, room.shut(count));
            });
            return new Claimed(claimed.attempts(), claimed.readyAt(), shut);
        });
    }

    private static Set<Lane> lock(Session session, List<ClaimRequest.Quota> quotas) throws SQLException {
        Map<GateName, Lane> gates = new HashMap<>();
        quotas.forEach(quota -> gates.put(
                new GateName(quota.lane().project(), "lane:" + quota.lane().queue()), quota.lane()));
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

    @Override
    public void limit(Lane lane, Limits limits) {
        database.single(session -> named(session.query(LIMIT), lane)
                .number("running", limits.running())
                .real("rate", limits.perSecond())
                .update());
        if (limits.running() != null)
            database.single(session -> named(session.query(COUNT_IN), lane).update());
    }

    @Override
    public List<LaneDue> scan() {
        return database.single(session -> session.query(SCAN).list(LaneRepository::due));
    }

    private static LaneDue due(Row row) throws SQLException {
        return new LaneDue(lane(row), Priority.of(row.integer("class")), row.instant("ready_at"));
    }

    private static Lane lane(Row row) throws SQLException {
        return new Lane(row.text("queue"), row.text("project"));
    }

    @Override
    public boolean pause(Lane lane, String by, @Nullable String reason) {
        return database.single(session -> named(session.query(PAUSE), lane)
                        .text("by", by)
                        .text("reason", reason)
                        .update())
                > 0;
    }

    @Override
    public boolean resume(Lane lane) {
        return database.single(session -> named(session.query(RESUME), lane).update()) > 0;
    }

    @Override
    public List<LaneInfo> list(String project) {
        return database.single(session -> session.query(LIST)
                .text("project", project)
                .list(row -> {
                    Instant at = row.maybeInstant("paused_at");
                    LaneInfo.Pause pause = at == null
                            ? null
                            : new LaneInfo.Pause(at, row.maybeText("paused_by"), row.maybeText("paused_reason"));
                    return new LaneInfo(
                            new Lane(row.text("queue"), project),
                            row.number("waiting"),
                            row.number("running"),
                            limits(row),
                            pause);
                }));
    }

    private static Limits limits(Row row) throws SQLException {
        return new Limits(row.maybeInteger("max_running"), row.maybeReal("rate"));
    }

    private static Query named(Query query, Lane lane) throws SQLException {
        return query.text("queue", lane.queue()).text("project", lane.project());
    }
}
