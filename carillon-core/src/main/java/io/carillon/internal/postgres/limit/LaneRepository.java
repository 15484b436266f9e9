package io.carillon.internal.postgres.limit;

import static java.util.Objects.requireNonNullElse;

import io.carillon.QueueLimits;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.BreakerChange;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.ClaimResult;
import io.carillon.internal.store.run.LaneDue;
import io.carillon.internal.store.run.LaneInfo;
import io.carillon.internal.store.run.LaneOutcomes;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.store.run.QueueHead;
import io.carillon.run.Priority;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The store of lanes: which have work, and their limits, weights and pauses. */
public final class LaneRepository implements LaneStore {
    private static final int DUE_LIMIT = 200;
    private static final int UPCOMING_LIMIT = 100;

    // Of the runs that are not due yet only the next few matter: a node that has used them up before it polls again
    // scans the lanes. Each row that is read touches a page. Paused lanes are removed after the head was read and not
    // while it is read, because their backlog may be long. Their rows still count, so that the node scans behind them.
    // Only the first row contains the settings: there may be thousands of them.
    private static final String QUEUE_HEAD = """
            WITH first_runs AS MATERIALIZED (SELECT * FROM carillon.queue_head(:readyFrom, 200, 100)),
            due AS (SELECT queue, project, priority, target_name, ready_at FROM first_runs WHERE due),
            upcoming AS (SELECT queue, project, priority, target_name, ready_at FROM first_runs WHERE NOT due),
            head AS (SELECT queue, project, priority, target_name, min(ready_at) AS ready_at FROM due
              GROUP BY queue, project, priority, target_name
                     UNION SELECT * FROM upcoming)
            SELECT t.now, t.due, t.upcoming, t.last_upcoming, t.isolated, t.gated, t.run_waits,
                   CASE WHEN lane.number IS NULL OR lane.number = 1 THEN t.limited_queues END AS limited_queues,
                   CASE WHEN lane.number IS NULL OR lane.number = 1 THEN t.limited_projects END AS limited_projects,
                   CASE WHEN lane.number IS NULL OR lane.number = 1 THEN t.limited_breakers END AS limited_breakers,
                   CASE WHEN lane.number IS NULL OR lane.number = 1 THEN t.limited_flags END AS limited_flags,
                   CASE WHEN lane.number IS NULL OR lane.number = 1 THEN t.limited_weights END AS limited_weights,
                   CASE WHEN lane.number IS NULL OR lane.number = 1
                        THEN t.limited_breaker_settings END AS limited_breaker_settings,
                   lane.*
              FROM (SELECT carillon.clock() AS now, (SELECT count(*) FROM due) AS due,
                (SELECT count(*) FROM upcoming) AS upcoming,
                           (SELECT max(ready_at) FROM upcoming) AS last_upcoming, l.queues AS limited_queues,
                           l.projects AS limited_projects,
                           l.breakers AS limited_breakers, l.limited AS limited_flags, l.weights AS limited_weights,
                           l.breaker_settings AS limited_breaker_settings,
                           EXISTS (SELECT 1 FROM carillon.run WHERE parked = 'isolated' AND owner IS NULL) AS isolated,
                           (SELECT gate_key FROM carillon.run WHERE gate_key IS NOT NULL ORDER BY project, gate_key
                             LIMIT 1) IS NOT NULL AS gated,
                           (SELECT run_id FROM carillon.run_wait ORDER BY project, run_id, awaited_id LIMIT 1)
                             IS NOT NULL
                           OR (SELECT run_id FROM carillon.workflow_signal WHERE consumed_by IS NULL
                                ORDER BY project, run_id LIMIT 1) IS NOT NULL AS run_waits
                      FROM (SELECT array_agg(queue) AS queues, array_agg(project) AS projects,
                        array_agg((breaker <> 'closed')::text) AS breakers,
                                   array_agg((max_running IS NOT NULL OR rate IS NOT NULL
                                     OR breaker <> 'closed')::text) AS limited,
                                   array_agg(weight::text) AS weights,
                                   array_agg(coalesce(breaker_enabled::text, '')) AS breaker_settings
                              FROM carillon.lane
                             WHERE max_running IS NOT NULL OR rate IS NOT NULL OR breaker <> 'closed'
                               OR weight <> 1 OR breaker_enabled IS NOT NULL) l) t
              LEFT JOIN (SELECT head.*, row_number() OVER () AS number FROM head
                          WHERE NOT EXISTS (SELECT 1 FROM carillon.lane p
                                             WHERE p.queue = head.queue AND p.project = head.project
                                               AND p.paused_at IS NOT NULL)) lane ON true
            """;

    private static final String SCAN =
            "SELECT * FROM carillon.scan_lanes(:queue, :project, :priority::smallint, :handler, :steps::int)";

    private static final String PAUSE = """
            INSERT INTO carillon.lane AS l (queue, project, paused_at, paused_by, paused_reason)
            VALUES (:queue, :project, carillon.clock(), :by, :reason)
            ON CONFLICT (queue, project) DO UPDATE
               SET paused_at = excluded.paused_at, paused_by = excluded.paused_by,
                 paused_reason = excluded.paused_reason
             WHERE l.paused_at IS NULL
            """;

    private static final String RESUME = """
            UPDATE carillon.lane SET paused_at = NULL, paused_by = NULL, paused_reason = NULL, breaker = 'closed',
              breaker_until = NULL
             WHERE queue = :queue AND project = :project AND (paused_at IS NOT NULL OR breaker <> 'closed')
            """;

    private static final String LIMIT = """
            INSERT INTO carillon.lane (queue, project, max_running, rate, recount_until)
            VALUES (:queue, :project, :running, :rate::float8, CASE WHEN :running::int IS NOT NULL
              THEN 'infinity'::timestamptz END)
            ON CONFLICT (queue, project) DO UPDATE
               SET max_running = excluded.max_running, rate = excluded.rate, recount_until = excluded.recount_until
            """;

    private static final String SET_WEIGHT = """
            INSERT INTO carillon.lane (queue, project, weight) VALUES (:queue, :project, :weight)
            ON CONFLICT (queue, project) DO UPDATE SET weight = excluded.weight
            """;

    private static final String LANE_INFO = """
            SELECT c.queue, l.paused_at, l.paused_by, l.paused_reason, l.max_running, l.rate, l.weight, l.breaker,
              l.breaker_enabled, l.breaker_until, c.waiting, c.running, c.complete,
              c.waiting_since
              FROM counted c LEFT JOIN carillon.lane l ON l.queue = c.queue AND l.project = :project
             WHERE l.queue IS NOT NULL OR c.waiting + c.running > 0
            """;

    // A queue without a breaker has no open one: otherwise nothing would close it.
    private static final String SET_BREAKER = """
            INSERT INTO carillon.lane AS l (queue, project, breaker_enabled) VALUES (:queue, :project, :enabled)
            ON CONFLICT (queue, project) DO UPDATE
               SET breaker_enabled = excluded.breaker_enabled,
                   breaker = CASE WHEN excluded.breaker_enabled THEN l.breaker ELSE 'closed' END,
                   breaker_until = CASE WHEN excluded.breaker_enabled THEN l.breaker_until END
            """;

    // Counts are bounded, and so are the queues: a page about queues must not read a million rows.
    private static final String LIST = """
            WITH known AS (SELECT queue COLLATE "C" AS queue FROM carillon.queue_names(:project, 1000) AS queue
              UNION (SELECT queue FROM carillon.lane WHERE project = :project ORDER BY queue LIMIT 1000)
              ORDER BY queue LIMIT 1000),
            counted AS (SELECT c.* FROM (SELECT array_agg(queue ORDER BY queue) AS queues FROM known) k,
                          carillon.count_runs_of_queues(:project, k.queues, 10000) c)
            """ + LANE_INFO + " ORDER BY c.queue COLLATE \"C\"";

    private static final String FIND = """
            WITH counted AS (SELECT * FROM carillon.count_runs_of_queues(:project, ARRAY[:queue::text], 10000))
            """ + LANE_INFO;

    private final Database database;
    private final LaneLimits gates;
    private final LaneBreakers breakers;

    public LaneRepository(Database database, LaneLimits gates) {
        this.database = database;
        this.gates = gates;
        this.breakers = new LaneBreakers(database);
    }

    @Override
    public QueueHead readQueueHead(Instant low) {
        List<LaneDue> lanes = new ArrayList<>();
        Set<Lane> limited = new HashSet<>();
        Set<Lane> broken = new HashSet<>();
        Map<Lane, Integer> weights = new HashMap<>();
        Map<Lane, Boolean> breakerSettings = new HashMap<>();
        record Head(Instant now, boolean isolated, boolean gated, boolean runWaits, Instant seenUntil) {}
        List<Head> heads = database.single(session -> {
            lanes.clear();
            return session.query(QUEUE_HEAD).instant("readyFrom", low).list(row -> {
                if (row.maybeText("queue") != null) lanes.add(readLaneDue(row));
                if (limited.isEmpty() && weights.isEmpty() && breakerSettings.isEmpty())
                    readSettings(row, limited, broken, weights, breakerSettings);
                return new Head(
                        row.instant("now"),
                        row.flag("isolated"),
                        row.flag("gated"),
                        row.flag("run_waits"),
                        seenUntil(row));
            });
        });
        Head head = heads.get(0);
        return new QueueHead(
                lanes,
                head.now(),
                head.seenUntil(),
                head.isolated(),
                head.gated(),
                head.runWaits(),
                limited,
                weights,
                new QueueHead.Breakers(broken, breakerSettings));
    }

    private static Instant seenUntil(Row row) throws SQLException {
        if (row.number("due") >= DUE_LIMIT) return Instant.MIN;
        Instant last = row.number("upcoming") >= UPCOMING_LIMIT ? row.maybeInstant("last_upcoming") : null;
        return last == null ? Instant.MAX : last;
    }

    private static void readSettings(
            Row row,
            Set<Lane> limited,
            Set<Lane> broken,
            Map<Lane, Integer> weights,
            Map<Lane, Boolean> breakerSettings)
            throws SQLException {
        List<String> queues = row.texts("limited_queues");
        List<String> projects = row.texts("limited_projects");
        List<String> open = row.texts("limited_breakers");
        List<String> flags = row.texts("limited_flags");
        List<String> weightTexts = row.texts("limited_weights");
        List<String> settings = row.texts("limited_breaker_settings");
        for (int i = 0; i < queues.size(); i++) {
            Lane lane = new Lane(queues.get(i), projects.get(i));
            if (flags.get(i).equals("true")) limited.add(lane);
            if (!weightTexts.get(i).equals("1")) weights.put(lane, Integer.valueOf(weightTexts.get(i)));
            if (open.get(i).equals("true")) broken.add(lane);
            if (!settings.get(i).isEmpty()) breakerSettings.put(lane, Boolean.valueOf(settings.get(i)));
        }
    }

    @Override
    public ClaimResult claim(ClaimRequest request) {
        return gates.claim(request);
    }

    @Override
    public List<BreakerChange> reportOutcomes(UUID node, List<LaneOutcomes> loads) {
        return breakers.report(node, loads);
    }

    @Override
    public void limit(Lane lane, QueueLimits queueLimits) {
        database.transaction(session -> {
            LaneLimits.waitForLock(session, lane);
            int set = bindLane(session.query(LIMIT), lane)
                    .number("running", queueLimits.maxRunning())
                    .real("rate", queueLimits.perSecond())
                    .update();
            if (queueLimits.maxRunning() != null) LaneLimits.markRunningAsLimited(session, List.of(lane));
            return set;
        });
    }

    @Override
    public void setWeight(Lane lane, int weight) {
        database.single(session -> bindLane(session.query(SET_WEIGHT), lane)
                .number("weight", weight)
                .update());
    }

    @Override
    public void setBreaker(Lane lane, boolean enabled) {
        database.single(session -> bindLane(session.query(SET_BREAKER), lane)
                .flag("enabled", enabled)
                .update());
    }

    @Override
    public ScanPart scan(@Nullable LaneDue behind, int steps) {
        List<LaneDue> seen = database.single(session -> bindLane(
                        session.query(SCAN), behind == null ? new Lane("", "") : behind.lane())
                .number("priority", behind == null ? -1 : behind.priority().number())
                .text("handler", behind == null ? "" : behind.handler())
                .number("steps", steps)
                .list(LaneRepository::readLaneDue));
        return new ScanPart(
                seen.stream().filter(due -> due.readyAt().isBefore(Instant.MAX)).toList(),
                seen.size() < steps ? null : seen.get(seen.size() - 1));
    }

    private static LaneDue readLaneDue(Row row) throws SQLException {
        return new LaneDue(
                GateRepository.readLane(row),
                Priority.of(row.integer("priority")),
                row.text("target_name"),
                requireNonNullElse(row.maybeInstant("ready_at"), Instant.MAX));
    }

    @Override
    public boolean pause(Lane lane, String by, @Nullable String reason) {
        return database.single(session -> bindLane(session.query(PAUSE), lane)
                        .text("by", by)
                        .text("reason", reason)
                        .update())
                > 0;
    }

    @Override
    public boolean resume(Lane lane) {
        return database.single(session -> bindLane(session.query(RESUME), lane).update()) > 0;
    }

    @Override
    public List<LaneInfo> list(String project) {
        return database.single(
                session -> session.query(LIST).text("project", project).list(row -> readLaneInfo(project, row)));
    }

    @Override
    public Optional<LaneInfo> find(Lane lane) {
        return database.single(
                session -> bindLane(session.query(FIND), lane).first(row -> readLaneInfo(lane.project(), row)));
    }

    private static LaneInfo readLaneInfo(String project, Row row) throws SQLException {
        Instant at = row.maybeInstant("paused_at");
        LaneInfo.Pause pause =
                at == null ? null : new LaneInfo.Pause(at, row.maybeText("paused_by"), row.maybeText("paused_reason"));
        Integer weight = row.maybeInteger("weight");
        Lane lane = new Lane(row.text("queue"), project);
        return new LaneInfo(
                lane,
                new LaneInfo.Counts(
                        row.number("waiting"),
                        row.number("running"),
                        row.flag("complete"),
                        row.maybeInstant("waiting_since")),
                limits(row),
                weight == null ? 1 : weight,
                breaker(lane, row),
                pause);
    }

    private static LaneInfo.@Nullable Breaker breaker(Lane lane, Row row) throws SQLException {
        Boolean setting = row.maybeFlag("breaker_enabled");
        if (!(setting == null ? lane.hasBreakerByDefault() : setting)) return null;
        return new LaneInfo.Breaker(
                requireNonNullElse(row.maybeText("breaker"), "closed"), row.maybeInstant("breaker_until"));
    }

    private static QueueLimits limits(Row row) throws SQLException {
        return new QueueLimits(row.maybeInteger("max_running"), row.maybeReal("rate"));
    }

    private static Query bindLane(Query query, Lane lane) throws SQLException {
        return query.text("queue", lane.queue()).text("project", lane.project());
    }
}
