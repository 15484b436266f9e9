package io.carillon.postgres;

import io.carillon.run.Attempt;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Claimed;
import io.carillon.store.Ended;
import io.carillon.store.HeldRun;
import io.carillon.store.RunStore;
import io.carillon.store.Verdict;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The hot table: claims, and everything that lets a claimed run go without ending it. Endings are {@link Endings}' part. */
final class RunRepository implements RunStore {
    // ctid = any(array(...)): a join with LIMIT :n becomes a full scan under a generic plan. No indexed column is
    // written: the update stays HOT.
    private static final String CLAIM = """
            UPDATE carillon.run
               SET owner = :owner, attempt = attempt + 1, started_at = carillon.clock(),
                   leased_until = carillon.clock() + make_interval(secs => :lease)
             WHERE ctid = any(array(
               SELECT picked.ctid
                 FROM unnest(:queues::text[], :projects::text[], :classes::smallint[], :counts::int[], :lows::timestamptz[])
                        AS lane(queue, project, class, quota, low),
                      LATERAL (SELECT r.ctid FROM carillon.run r
                                WHERE r.queue = lane.queue AND r.project = lane.project AND r.class = lane.class
                                  AND r.ready_at BETWEEN lane.low AND carillon.clock()
                                  AND r.start_by > carillon.clock() AND r.owner IS NULL
                                  AND r.target_name <> ALL (:strangers::text[])
                                ORDER BY r.ready_at LIMIT lane.quota
                                FOR UPDATE SKIP LOCKED) AS picked
                WHERE (:lease::float8 IS NOT NULL
                       OR EXISTS (SELECT 1 FROM carillon.node n WHERE n.id = :owner AND n.dead_at IS NULL))
                  AND NOT EXISTS (SELECT 1 FROM carillon.lane p
                                   WHERE p.queue = lane.queue AND p.project = lane.project AND p.paused_at IS NOT NULL)))
            RETURNING\s""" + AttemptRows.COLUMNS;

    // A suspect stays parked while it runs: that is the durable mark which makes another death count as a crash.
    private static final String CLAIM_SUSPECT = """
            UPDATE carillon.run
               SET owner = :owner, attempt = attempt + 1, started_at = carillon.clock(),
                   leased_until = carillon.clock() + make_interval(secs => :lease)
             WHERE ctid = any(array(
               SELECT r.ctid FROM carillon.run r
                WHERE r.parked = 'suspect' AND r.owner IS NULL AND r.target_name = ANY (:targets::text[])
                  AND (:lease::float8 IS NOT NULL
                       OR EXISTS (SELECT 1 FROM carillon.node n WHERE n.id = :owner AND n.dead_at IS NULL))
                  AND NOT EXISTS (SELECT 1 FROM carillon.lane p
                                   WHERE p.queue = r.queue AND p.project = r.project AND p.paused_at IS NOT NULL)
                ORDER BY r.due_at LIMIT 1
                FOR UPDATE SKIP LOCKED))
            RETURNING\s""" + AttemptRows.COLUMNS;

    // Whoever was claimed once is the claim's business, not the missed policy's: hence start_by.
    private static final String HAND_BACK = """
            UPDATE carillon.run r
               SET owner = NULL, leased_until = NULL, started_at = NULL, parked = NULL, start_by = 'infinity',
                   ready_at = CASE WHEN r.ready_at = 'infinity' THEN carillon.clock() ELSE r.ready_at END
              FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[]) AS e(project, id, attempt)
             WHERE r.project = e.project AND r.id = e.id AND r.attempt = e.attempt AND r.owner = :owner
            """;

    private static final String PARK_RUNNING = """
            UPDATE carillon.run r
               SET ready_at = 'infinity', parked = 'running', start_by = 'infinity'
              FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[]) AS e(project, id, attempt)
             WHERE r.project = e.project AND r.id = e.id AND r.attempt = e.attempt AND r.owner = :owner
            """;

    private static final String PASS_ON = """
            UPDATE carillon.run r
               SET owner = NULL, leased_until = NULL, started_at = NULL, start_by = 'infinity',
                   parked = CASE WHEN k.known THEN NULL ELSE 'no-handler' END,
                   ready_at = CASE WHEN NOT k.known THEN 'infinity'
                                   WHEN r.ready_at = 'infinity' THEN carillon.clock() ELSE r.ready_at END
              FROM unnest(:projects::text[], :ids::uuid[], :attempts::int[], :names::text[]) AS e(project, id, attempt, name),
                   LATERAL (SELECT EXISTS (SELECT 1 FROM carillon.node n
                                            WHERE n.dead_at IS NULL AND e.name = ANY (n.handlers)) AS known) k
             WHERE r.project = e.project AND r.id = e.id AND r.attempt = e.attempt AND r.owner = :owner
            """;

    // Bounded: claims take from the head, so what is ours lies there or is parked. This is the belt; retiring after an
    // unknown claim is the braces.
    private static final String HELD = """
            SELECT project, id, attempt FROM (
              (SELECT project, id, attempt, owner FROM carillon.run
                WHERE ready_at <= carillon.clock() ORDER BY ready_at LIMIT 20000)
              UNION ALL
              SELECT project, id, attempt, owner FROM carillon.run WHERE parked IN ('running', 'suspect')) head
             WHERE owner = :owner
            """;

    private final Database database;
    private final Endings endings;

    RunRepository(Database database, Endings endings) {
        this.database = database;
        this.endings = endings;
    }

    @Override
    public Claimed claim(ClaimRequest request) {
        if (request.quotas().isEmpty()) return new Claimed(List.of(), List.of());
        List<Found> found = database.single(session -> session.query(CLAIM)
                .uuid("owner", request.owner())
                .seconds("lease", request.lease())
                .column(
                        "queues",
                        "text",
                        request.quotas(),
                        quota -> quota.lane().queue())
                .column(
                        "projects",
                        "text",
                        request.quotas(),
                        quota -> quota.lane().project())
                .column(
                        "classes",
                        "smallint",
                        request.quotas(),
                        quota -> quota.priority().number())
                .column("counts", "int4", request.quotas(), ClaimRequest.Quota::count)
                .column("lows", "timestamptz", request.quotas(), ClaimRequest.Quota::low)
                .texts("strangers", request.strangers())
                .list(row -> new Found(AttemptRows.read(row), row.instant("ready_at"))));
        found.sort(Comparator.comparing(Found::readyAt));
        return new Claimed(
                found.stream().map(Found::attempt).toList(),
                found.stream().map(Found::readyAt).toList());
    }

    private record Found(Attempt attempt, Instant readyAt) {}

    @Override
    public Optional<Attempt> claimSuspect(UUID owner, Set<String> targets, @Nullable Duration lease) {
        return database.single(session -> session.query(CLAIM_SUSPECT)
                .uuid("owner", owner)
                .seconds("lease", lease)
                .texts("targets", targets)
                .first(AttemptRows::read));
    }

    @Override
    public List<Verdict> apply(UUID owner, List<Ended> ended) {
        return endings.apply(owner, ended);
    }

    @Override
    public boolean applyIn(Connection transaction, UUID owner, Ended ended) {
        return endings.applyIn(transaction, owner, ended);
    }

    @Override
    public int handBackRows(UUID owner, List<HeldRun> rows) {
        if (rows.isEmpty()) return 0;
        List<HeldRun> ordered = new ArrayList<>(rows);
        ordered.sort(Comparator.comparing(HeldRun::run));
        return database.single(session -> session.query(HAND_BACK)
                .uuid("owner", owner)
                .column("projects", "text", ordered, HeldRun::project)
                .column("ids", "uuid", ordered, row -> row.run().value())
                .column("attempts", "int4", ordered, HeldRun::attempt)
                .update());
    }

    @Override
    public void parkRunning(UUID owner, List<Attempt> attempts) {
        if (attempts.isEmpty()) return;
        database.single(
                session -> fenced(session.query(PARK_RUNNING), owner, attempts).update());
    }

    @Override
    public void passOn(UUID owner, List<Attempt> attempts) {
        if (attempts.isEmpty()) return;
        List<Attempt> ordered = ordered(attempts);
        database.single(session -> fenced(session.query(PASS_ON), owner, ordered)
                .column("names", "text", ordered, attempt -> attempt.target().name())
                .update());
    }

    @Override
    public List<HeldRun> held(UUID owner) {
        return database.single(session -> session.query(HELD)
                .uuid("owner", owner)
                .list(row -> new HeldRun(row.text("project"), AttemptRows.runId(row, "id"), row.integer("attempt"))));
    }

    private static Query fenced(Query query, UUID owner, List<Attempt> attempts) throws SQLException {
        List<Attempt> ordered = ordered(attempts);
        return query.uuid("owner", owner)
                .column("projects", "text", ordered, attempt -> attempt.lane().project())
                .column("ids", "uuid", ordered, attempt -> attempt.run().value())
                .column("attempts", "int4", ordered, Attempt::number);
    }

    /** One lock order for everybody: by id. */
    private static List<Attempt> ordered(List<Attempt> attempts) {
        List<Attempt> ordered = new ArrayList<>(attempts);
        ordered.sort(Comparator.comparing(Attempt::run));
        return ordered;
    }
}
