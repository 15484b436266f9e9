package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.attempt.AttemptEndings;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.postgres.attempt.CancelRequests;
import io.carillon.internal.postgres.limit.LaneLimits;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.ClaimResult;
import io.carillon.internal.store.run.EndedAttempt;
import io.carillon.internal.store.run.IsolationRule;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.internal.store.run.RunStore;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Claims runs from the table {@code carillon.run}, and releases claimed runs without ending them. {@link
 * AttemptEndings} ends attempts.
 */
public final class RunRepository implements RunStore {
    // The row locations are in an array: a join with LIMIT :n becomes a full scan under a generic plan.
    private static final String CLAIM = AttemptRows.claimStatement("""
            SELECT row_ctid
              FROM carillon.claim_candidates(:queues::text[], :projects::text[], :priorities::smallint[],
                     :readyFroms::timestamptz[], :counts::int[], :handlers::text[], :unknownHandlers::text[])
                   AS row_ctid
             WHERE (:lease::float8 IS NOT NULL
               OR EXISTS (SELECT 1 FROM carillon.node n WHERE n.id = :owner AND n.dead_at IS NULL))
            """, "");

    // A lane with a limit is claimed from under its lock.
    private static final String CLAIM_RUN = AttemptRows.claimStatement(AttemptRows.CLAIMABLE_RUN + """
               AND NOT EXISTS (SELECT 1 FROM carillon.lane p
                                WHERE p.queue = r.queue AND p.project = r.project
                                  AND (p.paused_at IS NOT NULL OR p.max_running IS NOT NULL OR p.rate IS NOT NULL
                                       OR p.breaker <> 'closed'))
             ORDER BY r.id LIMIT 1
               FOR UPDATE SKIP LOCKED
            """, "");

    // Reads the index of parked runs by handler, so that the waiting runs of other handlers are not read. The range
    // keeps the plan on this index, whatever the statistics say.
    private static final String FIND_ISOLATED = """
            SELECT first.*
              FROM unnest(:targets::text[]) AS handler(name),
                   LATERAL (SELECT r.ctid AS row_ctid, r.target_name, r.node_deaths, r.queue, r.project,
                                   r.limited_by IS NULL AND EXISTS (SELECT 1 FROM carillon.lane l
                                                                     WHERE l.queue = r.queue AND l.project = r.project
                                                                       AND l.max_running IS NOT NULL) AS needs_lane_slot
                              FROM carillon.run r
                             WHERE r.parked BETWEEN 'isolated' AND 'isolated' AND r.target_name BETWEEN handler.name
                               AND handler.name AND r.owner IS NULL
                               -- evaluated for each run, because PostgreSQL would sort all runs after a join
                               AND (SELECT p.paused_at FROM carillon.lane p
                                 WHERE p.queue = r.queue AND p.project = r.project) IS NULL
                             ORDER BY r.parked, r.target_name, r.due_at LIMIT 1000) first
            """;

    private static final String TRY_ISOLATION_LOCK = """
            SELECT coalesce(min(age) FILTER (WHERE died), 1e9) AS since_death,
                   least(coalesce(max(age) FILTER (WHERE died), 0), coalesce(min(since_isolation), 1e9)) AS waited
              FROM (SELECT abs(extract(epoch FROM carillon.clock() - dead_at)) AS age,
                coalesce(dead_reason <> 'stopped', false) AS died,
                           abs(extract(epoch FROM carillon.clock() - last_isolation_at)) AS since_isolation
                             FROM carillon.node) n
            HAVING pg_try_advisory_xact_lock(hashtextextended('carillon.isolate', 0))
            """;

    // An isolated run stays parked while it runs: this durable mark makes another death count as a crash. The lock of
    // TRY_ISOLATION_LOCK is held, so that no two nodes of the cluster isolate at the same time.
    private static final String CLAIM_ISOLATED = AttemptRows.claimStatement("""
            SELECT ctid FROM carillon.run
             WHERE ctid = any(array(SELECT unnest(:ctids::tid[]))) AND owner IS NULL AND parked = 'isolated'
               AND (:lease::float8 IS NOT NULL
                    OR (EXISTS (SELECT 1 FROM carillon.node n WHERE n.id = :owner AND n.dead_at IS NULL)
                        AND NOT EXISTS (SELECT 1 FROM (SELECT owner FROM carillon.run
                                                        WHERE parked BETWEEN 'isolated' AND 'isolated'
                                                          AND owner <> :owner
                                                        ORDER BY parked, target_name, due_at) other
                                          JOIN carillon.node n ON n.id = other.owner AND n.dead_at IS NULL)))
               FOR UPDATE SKIP LOCKED
            """, """
            , limited_by = coalesce(limited_by, (SELECT l.queue FROM carillon.lane l
                                                  WHERE l.queue = run.queue AND l.project = run.project
                                                    AND l.max_running IS NOT NULL))
            """);

    private static final String RECORD_ISOLATION =
            "UPDATE carillon.node SET last_isolation_at = carillon.clock() WHERE id = :owner";

    private static final String FENCE_ARGUMENTS = "(:owner, :projects::text[], :ids::uuid[], :attempts::int[]";

    // The function updates carillon.run after it has locked the rows by key and fence.
    private static final String HAND_BACK = "/* UPDATE carillon.run */ SELECT carillon.hand_back_attempts"
            + FENCE_ARGUMENTS + ", :wait, :started::bool[]) AS id";

    private static final String PARK_RUNNING =
            "/* UPDATE carillon.run */ SELECT carillon.park_attempts" + FENCE_ARGUMENTS + ") AS id";

    private static final String RELEASE_WITHOUT_HANDLER =
            "/* UPDATE carillon.run */ SELECT carillon.release_attempts_without_handler" + FENCE_ARGUMENTS
                    + ") AS handler";

    private static final String HELD_RUNS = "SELECT r.project, r.id, r.attempt" + AttemptRows.RECORDED_RUNS
            + " WHERE n.node = :owner AND r.id IS NOT NULL";

    private static final String CLAIM_NUMBERS =
            "SELECT claim_number FROM carillon.claim_record WHERE node = :owner ORDER BY claim_number LIMIT 10000";

    // A node that was declared dead keeps its claim records: they say which runs to release.
    private static final String REWRITE_CLAIM_RECORDS = """
            WITH me AS (SELECT id FROM carillon.node WHERE id = :owner AND dead_at IS NULL),
            deleted AS (DELETE FROM carillon.claim_record n USING me
              WHERE n.node = me.id AND n.claim_number = ANY (:claimNumbers::bigint[]))
            INSERT INTO carillon.claim_record (node, claim_number, projects, run_ids)
            SELECT me.id, :claimNumber, :projects::text[], :ids::uuid[] FROM me WHERE cardinality(:ids::uuid[]) > 0
            """;

    private final Database database;
    private final AttemptEndings attemptEndings;
    private final CancelRequests cancelRequests;

    public RunRepository(Database database, AttemptEndings attemptEndings, CancelRequests cancels) {
        this.database = database;
        this.attemptEndings = attemptEndings;
        this.cancelRequests = cancels;
    }

    @Override
    public ClaimResult claim(ClaimRequest request) {
        if (request.laneClaims().isEmpty()) return new ClaimResult(List.of(), List.of(), Map.of());
        RunId run = request.run();
        if (run != null)
            return database.single(session ->
                    AttemptRows.readClaimed(AttemptRows.bindRun(session.query(CLAIM_RUN), request, run), Map.of()));
        return database.single(
                session -> AttemptRows.readClaimed(AttemptRows.bindRequest(session.query(CLAIM), request), Map.of()));
    }

    /** The time since the last node died, and how long nodes have been dying without a trial. */
    private record IsolationPause(Duration sinceDeath, Duration sinceTrial) {
        static IsolationPause read(Row row) throws SQLException {
            return new IsolationPause(row.seconds("since_death"), row.seconds("waited"));
        }

        boolean isOver(int deaths) {
            return IsolationRule.mayStartTrial(deaths, sinceDeath, sinceTrial);
        }
    }

    @Override
    public List<Attempt> claimIsolated(IsolatedClaimRequest asked) {
        List<Attempt> claimed = claimIsolatedGroup(asked);
        // A separate transaction: a claim that waits for locked runs must not make a heartbeat wait.
        if (!claimed.isEmpty())
            database.single(session ->
                    session.query(RECORD_ISOLATION).uuid("owner", asked.owner()).update());
        return claimed;
    }

    private List<Attempt> claimIsolatedGroup(IsolatedClaimRequest asked) {
        return database.transaction(session -> {
            Optional<IsolationPause> pause = session.query(TRY_ISOLATION_LOCK).first(IsolationPause::read);
            if (pause.isEmpty()) return List.of();
            List<LaneLimits.IsolatedRun> due =
                    session
                            .query(FIND_ISOLATED)
                            .texts("targets", asked.handlers())
                            .list(LaneLimits.IsolatedRun::read)
                            .stream()
                            .filter(one -> !asked.busy()
                                    || pause.get()
                                            .isOver(one.isolationCandidate().deaths()))
                            .toList();
            List<IsolationRule.IsolationCandidate> waiting = LaneLimits.withinLaneLimits(session, due);
            List<IsolationRule.IsolationCandidate> group =
                    IsolationRule.nextGroup(waiting, asked.maxRuns(), java.util.concurrent.ThreadLocalRandom.current());
            if (group.isEmpty()) return List.of();
            return session.query(CLAIM_ISOLATED)
                    .uuid("owner", asked.owner())
                    .number("claimNumber", asked.claimNumber())
                    .seconds("lease", asked.lease())
                    .text("soleProject", null)
                    .column("ctids", "tid", group, IsolationRule.IsolationCandidate::rowLocation)
                    .list(AttemptRows::read);
        });
    }

    @Override
    public List<WriteResult> apply(UUID owner, List<EndedAttempt> ended) {
        return attemptEndings.apply(owner, ended);
    }

    @Override
    public List<WriteResult> applyUnlocked(UUID owner, List<EndedAttempt> ended) {
        return attemptEndings.applyUnlocked(owner, ended);
    }

    @Override
    public boolean applyIn(Connection transaction, UUID owner, EndedAttempt endedAttempt) {
        return attemptEndings.applyIn(transaction, owner, endedAttempt);
    }

    @Override
    public int handBackRows(UUID owner, List<OwnedRun> rows, Set<RunId> started, boolean wait) {
        if (rows.isEmpty()) return 0;
        List<OwnedRun> ordered = new ArrayList<>(rows);
        ordered.sort(Comparator.comparing(OwnedRun::run));
        int back = wait ? releaseRows(owner, ordered, started) : releaseRows(owner, ordered, started, false);
        if (back > 0) cancelRequests.endReleasedRuns();
        return back;
    }

    /**
     * Releases the rows. A row that another transaction keeps locked is left to the next comparison of the runs that
     * this node owns with the attempts that it executes.
     */
    private int releaseRows(UUID owner, List<OwnedRun> rows, Set<RunId> started) {
        try {
            return releaseRows(owner, rows, started, true);
        } catch (StorageException slow) {
            if (!slow.isTimeout()) throw slow;
            return releaseRows(owner, rows, started, false);
        }
    }

    private int releaseRows(UUID owner, List<OwnedRun> rows, Set<RunId> started, boolean wait) {
        return database.single(session -> (wait ? session.withTimeout(AttemptEndings.LOCK_WAIT_SECONDS) : session)
                .query(HAND_BACK)
                .uuid("owner", owner)
                .column("projects", "text", rows, OwnedRun::project)
                .column("ids", "uuid", rows, row -> row.run().value())
                .column("attempts", "int4", rows, OwnedRun::attempt)
                .column("started", "bool", rows, row -> started.contains(row.run()))
                .flag("wait", wait)
                .list(row -> row.uuid("id"))
                .size());
    }

    @Override
    public Set<RunId> markLongRunning(UUID owner, List<Attempt> attempts) {
        if (attempts.isEmpty()) return Set.of();
        return new HashSet<>(database.single(session ->
                bindFences(session.query(PARK_RUNNING), owner, attempts).list(row -> AttemptRows.runId(row, "id"))));
    }

    @Override
    public Set<String> passOn(UUID owner, List<Attempt> attempts) {
        if (attempts.isEmpty()) return Set.of();
        Set<String> known = new HashSet<>();
        database.single(session -> bindFences(session.query(RELEASE_WITHOUT_HANDLER), owner, attempts)
                        .list(row -> Optional.ofNullable(row.maybeText("handler"))))
                .forEach(name -> name.ifPresent(known::add));
        cancelRequests.endReleasedRuns();
        return known;
    }

    @Override
    public List<OwnedRun> ownedRuns(UUID owner) {
        return database.single(session -> session.query(HELD_RUNS)
                .uuid("owner", owner)
                .list(row -> new OwnedRun(row.text("project"), AttemptRows.runId(row, "id"), row.integer("attempt"))));
    }

    @Override
    public Set<Long> claimRecords(UUID owner) {
        return Set.copyOf(database.single(
                session -> session.query(CLAIM_NUMBERS).uuid("owner", owner).list(row -> row.number("claim_number"))));
    }

    @Override
    public void replaceClaimRecords(UUID owner, Set<Long> seqs, long note, List<OwnedRun> kept) {
        database.single(session -> session.query(REWRITE_CLAIM_RECORDS)
                .uuid("owner", owner)
                .number("claimNumber", note)
                .column("claimNumbers", "int8", seqs, seq -> seq)
                .column("projects", "text", kept, OwnedRun::project)
                .column("ids", "uuid", kept, row -> row.run().value())
                .update());
    }

    private static Query bindFences(Query query, UUID owner, List<Attempt> attempts) throws SQLException {
        List<Attempt> ordered = sortedById(attempts);
        return query.uuid("owner", owner)
                .column("projects", "text", ordered, attempt -> attempt.lane().project())
                .column("ids", "uuid", ordered, attempt -> attempt.run().value())
                .column("attempts", "int4", ordered, Attempt::number);
    }

    /** Sorts by run id: one lock order for all writers. */
    private static List<Attempt> sortedById(List<Attempt> attempts) {
        List<Attempt> ordered = new ArrayList<>(attempts);
        ordered.sort(Comparator.comparing(Attempt::run));
        return ordered;
    }
}
