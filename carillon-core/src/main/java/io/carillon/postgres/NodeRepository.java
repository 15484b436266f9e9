package io.carillon.postgres;

import io.carillon.run.RunId;
import io.carillon.store.Beat;
import io.carillon.store.HeldRun;
import io.carillon.store.NodeInfo;
import io.carillon.store.NodeStore;
import io.carillon.store.NodeView;
import io.carillon.store.ProgressNote;
import io.carillon.store.Swept;
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

/** The register of nodes. A node is dead when a row says so, never because a clock says so. */
final class NodeRepository implements NodeStore {
    private static final Logger log = LoggerFactory.getLogger(NodeRepository.class);
    private static final int MOST_PARTS = 10;

    private static final String REGISTER = """
            INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup, notes)
            VALUES (:id, :name, :host, :pid, :version, :code, :handlers::text[], :slots, :wakeup, true)
            ON CONFLICT (id) DO UPDATE SET wakeup = excluded.wakeup
            """;

    // By the handlers there are to the runs that wait for them: a million runs that nobody knows cost nothing here. The
    // order makes it an index's work; without it the planner hopes to meet one soon and reads on to the end.
    private static final String KNOWN =
            "(SELECT DISTINCT unnest(handlers) AS name FROM carillon.node WHERE dead_at IS NULL)";

    private static final String WAKE_STRANGERS = waking(KNOWN + " AS known");

    private static final String WAKE = waking("unnest(:handlers::text[]) AS known (name)");

    // By a concurrency or rate key they wait for a place again. Of the others, suspects are suspects again.
    private static String waking(String known) {
        return """
            UPDATE carillon.run
               SET parked = CASE WHEN gate_key ~ '^(concurrency|rate):' THEN 'gate' WHEN isolate THEN 'suspect' END,
                   seq = CASE WHEN gate_key ~ '^(concurrency|rate):' THEN (extract(epoch FROM due_at) * 1000000)::bigint ELSE seq END,
                   ready_at = CASE WHEN gate_key ~ '^(concurrency|rate):' OR isolate THEN 'infinity' ELSE carillon.clock() END,
                   isolate = CASE WHEN gate_key ~ '^(concurrency|rate):' THEN isolate END
             WHERE ctid = any(array(
               SELECT waiting.ctid FROM %s,
                      LATERAL (SELECT r.ctid FROM carillon.run r WHERE r.parked = 'no-handler' AND r.target_name = known.name
                                ORDER BY r.due_at LIMIT 5000 FOR UPDATE SKIP LOCKED) waiting))
            """.formatted(known);
    }

    private static final String SET_ASIDE = "/* UPDATE carillon.run */ SELECT carillon.set_suspects_aside() AS runs";

    // One statement a beat: who lives, and who of mine shall stop.
    private static final String BEAT = """
            WITH me AS (
              UPDATE carillon.node SET beat = beat + 1, beat_at = carillon.clock(), busy = :busy
               WHERE id = :id AND dead_at IS NULL RETURNING 1),
            orders AS (SELECT project, run_id, reason FROM carillon.cancel_requests_of(:id)),
            peers AS (SELECT id, beat FROM carillon.node WHERE dead_at IS NULL AND id <> :id)
            SELECT EXISTS (SELECT 1 FROM me) AS alive, carillon.clock() AS now,
                   EXISTS (SELECT 1 FROM carillon.migration WHERE min_code > :code) AS outdated,
                   EXISTS (SELECT 1 FROM carillon.node
                            WHERE dead_at IS NOT NULL
                              AND (swept_at IS NULL
                                   OR (swept_at < dead_at + interval '1 minute' AND carillon.clock() >= dead_at + interval '1 minute')))
                     -- the first by the index; written as EXISTS with a comparison it becomes a scan of the whole table
                     OR coalesce((SELECT leased_until FROM carillon.run WHERE leased_until IS NOT NULL
                                   ORDER BY leased_until LIMIT 1) < carillon.clock(), false)
                     OR carillon.cancel_requests_due() OR carillon.suspects_without_handler()
                     OR EXISTS (SELECT 1 FROM\s""" + KNOWN + """
                                        AS known,
                                      LATERAL (SELECT 1 FROM carillon.run r WHERE r.parked = 'no-handler' AND r.target_name = known.name
                                                ORDER BY r.due_at LIMIT 1) waiting) AS sweep,
                   array(SELECT id FROM peers ORDER BY id) AS peer_ids, array(SELECT beat FROM peers ORDER BY id) AS beats,
                   array(SELECT project::text FROM orders ORDER BY run_id) AS projects, array(SELECT run_id FROM orders ORDER BY run_id) AS runs,
                   array(SELECT reason FROM orders ORDER BY run_id) AS reasons
            """;

    // Fenced like the ending of the attempt, by a lock on the run. A heartbeat waits for no lock: what is skipped,
    // because
    // the run is being written, comes with the next beat. What has not changed takes no lock.
    private static final String PROGRESS = """
            INSERT INTO carillon.progress AS p (project, run_id, attempt, done, total, at)
            SELECT e.project, e.id, e.attempt, e.done, e.total, carillon.clock()
              FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[], :done::bigint[], :totals::bigint[])
                     AS e(project, id, attempt, done, total),
                   LATERAL (SELECT 1 FROM carillon.run r
                             WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id AND r.attempt = e.attempt AND r.owner = :owner
                               AND NOT EXISTS (SELECT 1 FROM carillon.progress known
                                                WHERE known.project = e.project AND known.run_id = e.id AND known.attempt = e.attempt
                                                  AND known.done = e.done AND known.total = e.total)
                             ORDER BY r.id LIMIT 1 FOR NO KEY UPDATE OF r SKIP LOCKED) held
            ON CONFLICT (project, run_id) DO UPDATE
               SET attempt = excluded.attempt, done = excluded.done, total = excluded.total, at = excluded.at
            """;

    private static final String RENEW_LEASE = """
            UPDATE carillon.run SET leased_until = carillon.clock() + make_interval(secs => :lease)
             WHERE project = :project AND id BETWEEN :id AND :id AND attempt = :attempt AND owner = :owner AND leased_until IS NOT NULL
            """;

    private static final String DECLARE_DEAD = """
            UPDATE carillon.node SET dead_at = carillon.clock(), dead_why = :why
             WHERE id = :id AND beat = :beat AND dead_at IS NULL
            """;

    private static final String RETIRE = """
            UPDATE carillon.node SET dead_at = carillon.clock(), dead_why = 'stopped' WHERE id = :id AND dead_at IS NULL
            """;

    private static final String LIST = """
            SELECT * FROM carillon.node
             WHERE dead_at IS NULL OR dead_at > carillon.clock() - interval '1 hour' ORDER BY dead_at NULLS FIRST, started_at
            """;

    private final Database database;
    private final Database heartbeat;
    private final Sweeper sweeper;
    private final int code;

    NodeRepository(Database database, Database heartbeat, Sweeper sweeper, int code) {
        this.database = database;
        this.heartbeat = heartbeat;
        this.sweeper = sweeper;
        this.code = code;
    }

    @Override
    public void register(NodeInfo node) {
        database.single(session -> session.query(REGISTER)
                .uuid("id", node.id())
                .text("name", node.name())
                .text("host", node.host())
                .number("pid", node.pid())
                .text("version", node.version())
                .number("code", code)
                .texts("handlers", node.handlers())
                .number("slots", node.slots())
                .text("wakeup", node.wakeup())
                .update());
        wakeStrangers();
    }

    /** In parts, so that no statement writes for long; what is left is found by the next beat. */
    private void wakeStrangers() {
        for (int part = 0; part < MOST_PARTS; part++)
            if (database.single(session -> session.query(WAKE_STRANGERS).update()) == 0) return;
    }

    /** Suspects whose handler no living node has hold no place under a limit. In parts, as above. */
    private void setAside() {
        for (int part = 0; part < MOST_PARTS; part++)
            if (database.single(session -> session.query(SET_ASIDE).first(row -> row.number("runs")))
                            .orElse(0L)
                    == 0) return;
    }

    @Override
    public void wake(Set<String> handlers) {
        database.single(
                session -> session.query(WAKE).texts("handlers", handlers).update());
    }

    @Override
    public Beat beat(UUID node, int busy, List<ProgressNote> progress) {
        Beat beat = heartbeat.single(session -> session.query(BEAT)
                .uuid("id", node)
                .number("busy", busy)
                .number("code", code)
                .first(NodeRepository::beat)
                .orElseThrow());
        if (beat.alive() && !progress.isEmpty()) write(node, progress);
        return beat;
    }

    /** After the beat, which counts whatever a handler reported. */
    private void write(UUID node, List<ProgressNote> progress) {
        List<ProgressNote> ordered = new ArrayList<>(progress);
        ordered.sort(Comparator.comparing(ProgressNote::run));
        try {
            heartbeat.single(session -> session.query(PROGRESS)
                    .uuid("owner", node)
                    .column("projects", "text", ordered, ProgressNote::project)
                    .column("ids", "uuid", ordered, note -> note.run().value())
                    .column("attempts", "int4", ordered, ProgressNote::attempt)
                    .column("done", "int8", ordered, note -> note.progress().done())
                    .column("totals", "int8", ordered, note -> note.progress().total())
                    .update());
        } catch (StorageException failure) {
            if (!failure.rowAtFault()) throw failure;
            log.warn("progress not written, will retry with the next heartbeat runs={}", ordered.size(), failure);
        }
    }

    private static Beat beat(Row row) throws java.sql.SQLException {
        Map<UUID, Long> peers = new HashMap<>();
        List<UUID> ids = row.uuids("peer_ids");
        List<Long> beats = row.numbers("beats");
        for (int i = 0; i < ids.size(); i++) peers.put(ids.get(i), beats.get(i));
        List<Beat.CancelOrder> cancels = new ArrayList<>();
        List<String> projects = row.texts("projects");
        List<UUID> runs = row.uuids("runs");
        List<String> reasons = row.texts("reasons");
        for (int i = 0; i < runs.size(); i++)
            cancels.add(new Beat.CancelOrder(projects.get(i), new RunId(runs.get(i)), reasons.get(i)));
        return new Beat(row.flag("alive"), row.instant("now"), row.flag("sweep"), row.flag("outdated"), peers, cancels);
    }

    @Override
    public List<HeldRun> renew(UUID owner, List<HeldRun> held, Duration lease) {
        return database.single(session -> {
            List<HeldRun> lost = new ArrayList<>();
            for (HeldRun run : held) {
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
        return heartbeat.single(session -> session.query(DECLARE_DEAD)
                        .uuid("id", node)
                        .number("beat", beat)
                        .text("why", why)
                        .update())
                > 0;
    }

    @Override
    public void retire(UUID node) {
        // On the heart's own connection: where that is broken, nobody waits for another one.
        heartbeat.single(session -> session.query(RETIRE).uuid("id", node).update());
    }

    @Override
    public Swept sweep(int crashLimit) {
        Swept swept = sweeper.sweep(crashLimit);
        setAside();
        wakeStrangers();
        sweeper.endCancelled();
        return swept;
    }

    @Override
    public List<NodeView> list() {
        return database.single(session -> session.query(LIST)
                .list(row -> new NodeView(
                        new NodeInfo(
                                row.uuid("id"),
                                row.text("name"),
                                row.text("host"),
                                row.number("pid"),
                                row.text("version"),
                                Set.copyOf(row.texts("handlers")),
                                row.integer("slots"),
                                row.text("wakeup")),
                        row.instant("started_at"),
                        row.instant("beat_at"),
                        row.integer("busy"),
                        row.maybeInstant("dead_at"),
                        row.maybeText("dead_why"))));
    }
}
