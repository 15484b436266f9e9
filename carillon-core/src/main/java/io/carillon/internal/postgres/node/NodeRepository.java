package io.carillon.internal.postgres.node;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.store.node.HeartbeatResult;
import io.carillon.internal.store.node.NodeRegistration;
import io.carillon.internal.store.node.NodeStore;
import io.carillon.internal.store.node.NodeView;
import io.carillon.internal.store.node.ProgressUpdate;
import io.carillon.internal.store.node.RescueResult;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.run.RunId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The registered nodes. A node is dead if its row says so, never because of a clock. */
public final class NodeRepository implements NodeStore {
    private static final Logger log = LoggerFactory.getLogger(NodeRepository.class);
    private static final int MAX_BATCHES = 10;

    private static final String REGISTER = """
            INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, workflows, slots, wakeup)
            VALUES (:id, :name, :host, :pid, :version, :code, :handlers::text[], :workflows::text[], :slots, :wakeup)
            ON CONFLICT (id) DO UPDATE SET wakeup = excluded.wakeup
            """;

    // Goes from the known handlers to the runs that wait for them: a million runs with unknown handlers cost nothing
    // here. The ORDER BY makes PostgreSQL use the index; without it the planner expects to find a match soon and reads
    // to the end.
    private static final String KNOWN_HANDLERS =
            "(SELECT DISTINCT unnest(handlers) AS name FROM carillon.node WHERE dead_at IS NULL)";

    private static final String UNPARK_ALL = unparkStatement(KNOWN_HANDLERS + " AS handler");

    private static final String UNPARK = unparkStatement("unnest(:handlers::text[]) AS handler (name)");

    // Runs with a concurrency or rate key wait at their gate again. Of the others, runs that were isolated
    // are isolated again.
    private static String unparkStatement(String known) {
        return """
            UPDATE carillon.run
               SET parked = CASE WHEN gate_key ~ '^(concurrency|rate):' THEN 'gate'
                     WHEN was_isolated THEN 'isolated' END,
                   gate_position = CASE WHEN gate_key ~ '^(concurrency|rate):'
                     THEN (extract(epoch FROM due_at) * 1000000)::bigint ELSE gate_position END,
                   ready_at = CASE WHEN gate_key ~ '^(concurrency|rate):' OR was_isolated THEN 'infinity'
                     ELSE carillon.clock() END,
                   was_isolated = CASE WHEN gate_key ~ '^(concurrency|rate):' THEN was_isolated END
             WHERE ctid = any(array(
               SELECT waiting.ctid FROM %s,
                      LATERAL (SELECT r.ctid FROM carillon.run r
                        WHERE r.parked = 'no-handler' AND r.target_name = handler.name
                                ORDER BY r.due_at LIMIT 5000 FOR UPDATE SKIP LOCKED) waiting))
            """.formatted(known);
    }

    private static final String PARK_ISOLATED =
            "/* UPDATE carillon.run */ SELECT carillon.park_isolated_runs_without_handler() AS runs";

    // One statement for each heartbeat: the live nodes, and the runs of this node that must stop.
    private static final String HEARTBEAT = """
            WITH me AS (
              UPDATE carillon.node SET heartbeat_count = heartbeat_count + 1, heartbeat_at = carillon.clock(),
                busy = :busy
               WHERE id = :id AND dead_at IS NULL RETURNING 1),
            cancel_requests AS (SELECT project, run_id, reason FROM carillon.cancel_requests_of_node(:id)),
            peers AS (SELECT id, heartbeat_count FROM carillon.node WHERE dead_at IS NULL AND id <> :id)
            SELECT EXISTS (SELECT 1 FROM me) AS alive, carillon.clock() AS now,
                   EXISTS (SELECT 1 FROM carillon.migration WHERE min_code > :code) AS outdated,
                   EXISTS (SELECT 1 FROM carillon.node
                            WHERE dead_at IS NOT NULL
                              AND (rescued_at IS NULL
                                   OR (rescued_at < dead_at + interval '1 minute'
                                     AND carillon.clock() >= dead_at + interval '1 minute')))
                     -- reads the first index entry; as EXISTS with a comparison it becomes a full table scan
                     OR coalesce((SELECT leased_until FROM carillon.run WHERE leased_until IS NOT NULL
                                   ORDER BY leased_until LIMIT 1) < carillon.clock(), false)
                     OR carillon.has_due_cancel_requests() OR carillon.has_isolated_runs_without_handler()
                     OR EXISTS (SELECT 1 FROM\s""" + KNOWN_HANDLERS + """
                                        AS handler,
                                      LATERAL (SELECT 1 FROM carillon.run r
                                        WHERE r.parked = 'no-handler' AND r.target_name = handler.name
                                                ORDER BY r.due_at LIMIT 1) waiting) AS rescue_due,
                   array(SELECT id FROM peers ORDER BY id) AS peer_ids,
                     array(SELECT heartbeat_count FROM peers ORDER BY id) AS heartbeat_counts,
                   array(SELECT project::text FROM cancel_requests ORDER BY run_id) AS projects,
                     array(SELECT run_id FROM cancel_requests ORDER BY run_id) AS runs,
                   array(SELECT reason FROM cancel_requests ORDER BY run_id) AS reasons
            """;

    // Fenced by a lock on the run, like the ending of the attempt. A heartbeat waits for no lock: progress that is
    // skipped, because the run is being written, comes with the next heartbeat. Unchanged progress takes no lock.
    private static final String PROGRESS = """
            INSERT INTO carillon.progress AS p (project, run_id, attempt, done, total, log, at)
            SELECT e.project, e.id, e.attempt, e.done, e.total, e.log, carillon.clock()
              FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[], :done::bigint[], :totals::bigint[],
                     :logs::text[]) AS e(project, id, attempt, done, total, log),
                   LATERAL (SELECT 1 FROM carillon.run r
                             WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.attempt = e.attempt
                               AND r.owner = :owner
                               AND NOT EXISTS (SELECT 1 FROM carillon.progress reported
                                                WHERE reported.project = e.project AND reported.run_id = e.id
                                                  AND reported.attempt = e.attempt
                                                  AND reported.done IS NOT DISTINCT FROM e.done
                                                  AND reported.total IS NOT DISTINCT FROM e.total
                                                  AND reported.log IS NOT DISTINCT FROM e.log)
                             ORDER BY r.id LIMIT 1 FOR NO KEY UPDATE OF r SKIP LOCKED) held
            ON CONFLICT (project, run_id) DO UPDATE
               SET attempt = excluded.attempt, done = excluded.done, total = excluded.total, log = excluded.log,
                   at = excluded.at
            """;

    private static final String RENEW_LEASE = """
            UPDATE carillon.run SET leased_until = carillon.clock() + make_interval(secs => :lease)
             WHERE project = :project AND id BETWEEN :id AND :id AND attempt = :attempt AND owner = :owner
               AND leased_until IS NOT NULL
            """;

    private static final String DECLARE_DEAD = """
            UPDATE carillon.node SET dead_at = carillon.clock(), dead_reason = :reason
             WHERE id = :id AND heartbeat_count = :heartbeatCount AND dead_at IS NULL
            """;

    private static final String RETIRE = """
            UPDATE carillon.node SET dead_at = carillon.clock(), dead_reason = 'stopped'
              WHERE id = :id AND dead_at IS NULL
            """;

    private static final String LIST = """
            SELECT * FROM carillon.node
             WHERE dead_at IS NULL OR dead_at > carillon.clock() - interval '1 hour'
               ORDER BY dead_at NULLS FIRST, started_at
            """;

    private final Database database;
    private final Database heartbeatDatabase;
    private final LostLeaseRescuer rescuer;
    private final int code;

    public NodeRepository(Database database, Database heartbeat, LostLeaseRescuer lostLeaseRescuer, int code) {
        this.database = database;
        this.heartbeatDatabase = heartbeat;
        this.rescuer = lostLeaseRescuer;
        this.code = code;
    }

    @Override
    public void register(NodeRegistration node) {
        database.single(session -> session.query(REGISTER)
                .uuid("id", node.id())
                .text("name", node.name())
                .text("host", node.host())
                .number("pid", node.pid())
                .text("version", node.version())
                .number("code", code)
                .texts("handlers", node.handlers())
                .texts("workflows", node.workflows())
                .number("slots", node.slots())
                .text("wakeup", node.wakeup())
                .update());
        unparkRunsOfKnownHandlers();
    }

    /** Works in batches, so that no statement writes for long; the next heartbeat finds the rest. */
    private void unparkRunsOfKnownHandlers() {
        for (int part = 0; part < MAX_BATCHES; part++)
            if (database.single(session -> session.query(UNPARK_ALL).update()) == 0) return;
    }

    /**
     * Parks isolated runs whose handler no live node has, so that they hold no slot under a limit. Works in batches.
     */
    private void parkIsolatedWithoutHandler() {
        for (int part = 0; part < MAX_BATCHES; part++)
            if (database.single(session -> session.query(PARK_ISOLATED).first(row -> row.number("runs")))
                            .orElse(0L)
                    == 0) return;
    }

    @Override
    public void wakeParkedRuns(Set<String> handlers) {
        database.single(
                session -> session.query(UNPARK).texts("handlers", handlers).update());
    }

    @Override
    public HeartbeatResult recordHeartbeat(UUID node, int busy, List<ProgressUpdate> progress) {
        HeartbeatResult heartbeatResult = heartbeatDatabase.single(session -> session.query(HEARTBEAT)
                .uuid("id", node)
                .number("busy", busy)
                .number("code", code)
                .first(NodeRepository::beat)
                .orElseThrow());
        if (heartbeatResult.alive() && !progress.isEmpty()) writeProgress(node, progress);
        return heartbeatResult;
    }

    /** Writes progress after the heartbeat, which counts whether or not this write succeeds. */
    private void writeProgress(UUID node, List<ProgressUpdate> progress) {
        List<ProgressUpdate> ordered = new ArrayList<>(progress);
        ordered.sort(Comparator.comparing(ProgressUpdate::run));
        try {
            heartbeatDatabase.single(session -> session.query(PROGRESS)
                    .uuid("owner", node)
                    .column("projects", "text", ordered, ProgressUpdate::project)
                    .column("ids", "uuid", ordered, note -> note.run().value())
                    .column("attempts", "int4", ordered, ProgressUpdate::attempt)
                    .column(
                            "done",
                            "int8",
                            ordered,
                            note -> note.progress() == null
                                    ? null
                                    : note.progress().done())
                    .column(
                            "totals",
                            "int8",
                            ordered,
                            note -> note.progress() == null
                                    ? null
                                    : note.progress().total())
                    .column("logs", "text", ordered, ProgressUpdate::log)
                    .update());
        } catch (StorageException failure) {
            if (!failure.isRowError()) throw failure;
            log.warn("progress not written, will retry with the next heartbeat runs={}", ordered.size(), failure);
        }
    }

    private static HeartbeatResult beat(Row row) throws java.sql.SQLException {
        Map<UUID, Long> peers = new HashMap<>();
        List<UUID> ids = row.uuids("peer_ids");
        List<Long> beats = row.numbers("heartbeat_counts");
        for (int i = 0; i < ids.size(); i++) peers.put(ids.get(i), beats.get(i));
        List<HeartbeatResult.CancelRequest> cancels = new ArrayList<>();
        List<String> projects = row.texts("projects");
        List<UUID> runs = row.uuids("runs");
        List<String> reasons = row.texts("reasons");
        for (int i = 0; i < runs.size(); i++)
            cancels.add(new HeartbeatResult.CancelRequest(projects.get(i), new RunId(runs.get(i)), reasons.get(i)));
        return new HeartbeatResult(
                row.flag("alive"), row.instant("now"), row.flag("rescue_due"), row.flag("outdated"), peers, cancels);
    }

    @Override
    public List<OwnedRun> renewLeases(UUID owner, List<OwnedRun> held, Duration lease) {
        return database.single(session -> {
            List<OwnedRun> lost = new ArrayList<>();
            for (OwnedRun run : held) {
                int renewed = session.query(RENEW_LEASE)
                        .uuid("owner", owner)
                        .text("project", run.project())
                        .uuid("id", run.run().value())
                        .number("attempt", run.attempt())
                        .seconds("lease", lease)
                        .update();
                if (renewed == 0) lost.add(run);
            }
            return lost;
        });
    }

    @Override
    public boolean declareDead(UUID node, long beat, String why) {
        return heartbeatDatabase.single(session -> session.query(DECLARE_DEAD)
                        .uuid("id", node)
                        .number("heartbeatCount", beat)
                        .text("reason", why)
                        .update())
                > 0;
    }

    @Override
    public void retire(UUID node) {
        // On the heartbeat's own connection: if that is broken, this call does not wait for another one.
        heartbeatDatabase.single(
                session -> session.query(RETIRE).uuid("id", node).update());
    }

    @Override
    public RescueResult rescue(int crashLimit) {
        RescueResult rescueResult = rescuer.rescue(crashLimit);
        parkIsolatedWithoutHandler();
        unparkRunsOfKnownHandlers();
        rescuer.endCancelled();
        return rescueResult;
    }

    @Override
    public List<NodeView> list() {
        return database.single(session -> session.query(LIST)
                .list(row -> new NodeView(
                        new NodeRegistration(
                                row.uuid("id"),
                                row.text("name"),
                                row.text("host"),
                                row.number("pid"),
                                row.text("version"),
                                Set.copyOf(row.texts("handlers")),
                                Set.copyOf(row.texts("workflows")),
                                row.integer("slots"),
                                row.text("wakeup")),
                        row.instant("started_at"),
                        row.instant("heartbeat_at"),
                        row.integer("busy"),
                        row.maybeInstant("dead_at"),
                        row.maybeText("dead_reason"))));
    }
}
