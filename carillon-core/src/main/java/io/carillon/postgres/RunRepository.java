package io.carillon.postgres;

import io.carillon.run.Attempt;
import io.carillon.run.RunId;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Claimed;
import io.carillon.store.Ended;
import io.carillon.store.HeldRun;
import io.carillon.store.RunStore;
import io.carillon.store.Suspicion;
import io.carillon.store.Verdict;
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

/** The hot table: claims, and everything that lets a claimed run go without ending it. Endings are {@link Endings}' part. */
final class RunRepository implements RunStore {
    // Places in an array: a join with LIMIT :n becomes a full scan under a generic plan. Paused and limited lanes go
    // first (OFFSET keeps it so), or their rows would be locked in vain.
    private static final String CLAIM = AttemptRows.noted("""
            SELECT place
              FROM (SELECT * FROM unnest(:queues::text[], :projects::text[], :classes::smallint[], :counts::int[], :lows::timestamptz[],
                                         :handlers::text[]) AS asked(queue, project, class, quota, low, handlers)
                     WHERE NOT EXISTS (SELECT 1 FROM carillon.lane p
                                        WHERE p.queue = asked.queue AND p.project = asked.project
                                          AND (p.paused_at IS NOT NULL OR p.max_running IS NOT NULL OR p.rate IS NOT NULL
                                               OR p.breaker <> 'closed'))
                    OFFSET 0) AS lane,
                   carillon.pick(lane.queue, lane.project, lane.class, lane.low, lane.quota, string_to_array(lane.handlers, ' '),
                                 :strangers::text[]) AS place
             WHERE (:lease::float8 IS NOT NULL OR EXISTS (SELECT 1 FROM carillon.node n WHERE n.id = :owner AND n.dead_at IS NULL))
            """, "");

    // By handler over the index of parked runs: what other handlers wait for is not read. The range keeps the plan on
    // this
    // index, whatever the statistics say.
    private static final String SUSPECTS = """
            SELECT first.*
              FROM unnest(:targets::text[]) AS known(name),
                   LATERAL (SELECT r.ctid AS place, r.target_name, r.suspect, r.queue, r.project,
                                   r.limited_by IS NULL AND EXISTS (SELECT 1 FROM carillon.lane l
                                                                     WHERE l.queue = r.queue AND l.project = r.project
                                                                       AND l.max_running IS NOT NULL) AS without_place
                              FROM carillon.run r
                             WHERE r.parked BETWEEN 'suspect' AND 'suspect' AND r.target_name BETWEEN known.name AND known.name AND r.owner IS NULL
                               -- asked for each run, because a join would be followed by a sort of all
                               AND (SELECT p.paused_at FROM carillon.lane p WHERE p.queue = r.queue AND p.project = r.project) IS NULL
                             ORDER BY r.parked, r.target_name, r.due_at LIMIT 1000) first
            """;

    private static final String TRY_ISOLATE = """
            SELECT coalesce(min(age) FILTER (WHERE died), 1e9) AS since_death,
                   least(coalesce(max(age) FILTER (WHERE died), 0), coalesce(min(trial), 1e9)) AS waited
              FROM (SELECT abs(extract(epoch FROM carillon.clock() - dead_at)) AS age, coalesce(dead_why <> 'stopped', false) AS died,
                           abs(extract(epoch FROM carillon.clock() - isolated_at)) AS trial FROM carillon.node) n
            HAVING pg_try_advisory_xact_lock(hashtextextended('carillon.isolate', 0))
            """;

    // A suspect stays parked while it runs: that is the durable mark which makes another death count as a crash. Under
    // the
    // lock of TRY_ISOLATE, so that no two nodes of the cluster isolate at the same time.
    private static final String CLAIM_SUSPECTS = AttemptRows.noted("""
            SELECT ctid FROM carillon.run
             WHERE ctid = any(array(SELECT unnest(:places::tid[]))) AND owner IS NULL AND parked = 'suspect'
               AND (:lease::float8 IS NOT NULL
                    OR (EXISTS (SELECT 1 FROM carillon.node n WHERE n.id = :owner AND n.dead_at IS NULL)
                        AND NOT EXISTS (SELECT 1 FROM (SELECT owner FROM carillon.run
                                                        WHERE parked BETWEEN 'suspect' AND 'suspect' AND owner <> :owner
                                                        ORDER BY parked, target_name, due_at) other
                                          JOIN carillon.node n ON n.id = other.owner AND n.dead_at IS NULL)))
               FOR UPDATE SKIP LOCKED
            """, """
            , limited_by = coalesce(limited_by, (SELECT l.queue FROM carillon.lane l
                                                  WHERE l.queue = run.queue AND l.project = run.project AND l.max_running IS NOT NULL))
            """);

    private static final String MARK_TRIAL =
            "UPDATE carillon.node SET isolated_at = carillon.clock() WHERE id = :owner";

    private static final String ASKED = "(:owner, :projects::text[], :ids::uuid[], :attempts::int[]";

    // In a function: UPDATE carillon.run, after the rows were locked by key and fence.
    private static final String HAND_BACK =
            "/* UPDATE carillon.run */ SELECT carillon.hand_back_attempts" + ASKED + ", :wait, :started::bool[]) AS id";

    private static final String PARK_RUNNING =
            "/* UPDATE carillon.run */ SELECT carillon.park_attempts" + ASKED + ") AS id";

    private static final String PASS_ON =
            "/* UPDATE carillon.run */ SELECT carillon.pass_on_attempts" + ASKED + ") AS known";

    private static final String HELD = "SELECT r.project, r.id, r.attempt" + AttemptRows.NOTED_RUNS
            + " WHERE n.node = :owner AND r.id IS NOT NULL";

    private static final String NOTES =
            "SELECT seq FROM carillon.claim_note WHERE node = :owner ORDER BY seq LIMIT 10000";

    // A node that was declared dead leaves its notes as they are: they tell what to release.
    private static final String REWRITE_NOTES = """
            WITH me AS (SELECT id FROM carillon.node WHERE id = :owner AND dead_at IS NULL),
            gone AS (DELETE FROM carillon.claim_note n USING me WHERE n.node = me.id AND n.seq = ANY (:seqs::bigint[]))
            INSERT INTO carillon.claim_note (node, seq, projects, ids)
            SELECT me.id, :note, :projects::text[], :ids::uuid[] FROM me WHERE cardinality(:ids::uuid[]) > 0
            """;

    private final Database database;
    private final Endings endings;
    private final CancelOrders cancels;

    RunRepository(Database database, Endings endings, CancelOrders cancels) {
        this.database = database;
        this.endings = endings;
        this.cancels = cancels;
    }

    @Override
    public Claimed claim(ClaimRequest request) {
        if (request.quotas().isEmpty()) return new Claimed(List.of(), List.of(), Map.of());
        return database.single(
                session -> AttemptRows.claimed(AttemptRows.asked(session.query(CLAIM), request), Map.of()));
    }

    /** How long ago the last node died, and for how long nodes have been dying without a trial. */
    private record Pause(Duration sinceDeath, Duration waited) {
        static Pause read(Row row) throws SQLException {
            return new Pause(row.seconds("since_death"), row.seconds("waited"));
        }

        boolean over(int deaths) {
            return Suspicion.mayBegin(deaths, sinceDeath, waited);
        }
    }

    @Override
    public List<Attempt> claimSuspects(ClaimSuspects asked) {
        List<Attempt> claimed = claimGroup(asked);
        // In a transaction of its own: a claim that waits for locked runs keeps no heartbeat waiting.
        if (!claimed.isEmpty())
            database.single(session ->
                    session.query(MARK_TRIAL).uuid("owner", asked.owner()).update());
        return claimed;
    }

    private List<Attempt> claimGroup(ClaimSuspects asked) {
        return database.transaction(session -> {
            Optional<Pause> pause = session.query(TRY_ISOLATE).first(Pause::read);
            if (pause.isEmpty()) return List.of();
            List<LaneGates.Suspect> due =
                    session.query(SUSPECTS).texts("targets", asked.targets()).list(LaneGates.Suspect::read).stream()
                            .filter(one -> !asked.busy()
                                    || pause.get().over(one.candidate().deaths()))
                            .toList();
            List<Suspicion.Candidate> waiting = LaneGates.withPlace(session, due);
            List<Suspicion.Candidate> group =
                    Suspicion.group(waiting, asked.most(), java.util.concurrent.ThreadLocalRandom.current());
            if (group.isEmpty()) return List.of();
            return session.query(CLAIM_SUSPECTS)
                    .uuid("owner", asked.owner())
                    .number("note", asked.note())
                    .seconds("lease", asked.lease())
                    .text("sole", null)
                    .column("places", "tid", group, Suspicion.Candidate::place)
                    .list(AttemptRows::read);
        });
    }

    @Override
    public List<Verdict> apply(UUID owner, List<Ended> ended) {
        return endings.apply(owner, ended);
    }

    @Override
    public List<Verdict> applyUnlocked(UUID owner, List<Ended> ended) {
        return endings.applyUnlocked(owner, ended);
    }

    @Override
    public boolean applyIn(Connection transaction, UUID owner, Ended ended) {
        return endings.applyIn(transaction, owner, ended);
    }

    @Override
    public int handBackRows(UUID owner, List<HeldRun> rows, Set<RunId> started, boolean wait) {
        if (rows.isEmpty()) return 0;
        List<HeldRun> ordered = new ArrayList<>(rows);
        ordered.sort(Comparator.comparing(HeldRun::run));
        int back = wait ? letGo(owner, ordered, started) : letGo(owner, ordered, started, false);
        if (back > 0) cancels.settle();
        return back;
    }

    /** A row that another transaction keeps locked is left to the next comparison of what this node owns with what it holds. */
    private int letGo(UUID owner, List<HeldRun> rows, Set<RunId> started) {
        try {
            return letGo(owner, rows, started, true);
        } catch (StorageException slow) {
            if (!slow.timedOut()) throw slow;
            return letGo(owner, rows, started, false);
        }
    }

    private int letGo(UUID owner, List<HeldRun> rows, Set<RunId> started, boolean wait) {
        return database.single(session -> (wait ? session.atMost(Endings.PATIENCE) : session)
                .query(HAND_BACK)
                .uuid("owner", owner)
                .column("projects", "text", rows, HeldRun::project)
                .column("ids", "uuid", rows, row -> row.run().value())
                .column("attempts", "int4", rows, HeldRun::attempt)
                .column("started", "bool", rows, row -> started.contains(row.run()))
                .flag("wait", wait)
                .list(row -> row.uuid("id"))
                .size());
    }

    @Override
    public Set<RunId> parkRunning(UUID owner, List<Attempt> attempts) {
        if (attempts.isEmpty()) return Set.of();
        return new HashSet<>(database.single(session ->
                fenced(session.query(PARK_RUNNING), owner, attempts).list(row -> AttemptRows.runId(row, "id"))));
    }

    @Override
    public Set<String> passOn(UUID owner, List<Attempt> attempts) {
        if (attempts.isEmpty()) return Set.of();
        Set<String> known = new HashSet<>();
        database.single(session -> fenced(session.query(PASS_ON), owner, attempts)
                        .list(row -> Optional.ofNullable(row.maybeText("known"))))
                .forEach(name -> name.ifPresent(known::add));
        cancels.settle();
        return known;
    }

    @Override
    public List<HeldRun> held(UUID owner) {
        return database.single(session -> session.query(HELD)
                .uuid("owner", owner)
                .list(row -> new HeldRun(row.text("project"), AttemptRows.runId(row, "id"), row.integer("attempt"))));
    }

    @Override
    public Set<Long> notes(UUID owner) {
        return Set.copyOf(database.single(
                session -> session.query(NOTES).uuid("owner", owner).list(row -> row.number("seq"))));
    }

    @Override
    public void rewriteNotes(UUID owner, Set<Long> seqs, long note, List<HeldRun> kept) {
        database.single(session -> session.query(REWRITE_NOTES)
                .uuid("owner", owner)
                .number("note", note)
                .column("seqs", "int8", seqs, seq -> seq)
                .column("projects", "text", kept, HeldRun::project)
                .column("ids", "uuid", kept, row -> row.run().value())
                .update());
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
