package io.carillon.internal.postgres.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.DatabaseTime;
import io.carillon.internal.jdbc.GroupCommit;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.postgres.sql.RunInsert;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.run.PolicyText;
import io.carillon.internal.store.run.NewRunStore;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The store of new runs. The caller creates the ids, so that repeating a statement whose answer was lost stores
 * no run twice.
 */
public final class NewRunRepository implements NewRunStore {
    private static final int CHUNK = 2_000;
    private static final int MAX_TRIES = 20;

    /** Inserts new runs from rows {@code e} that are due at {@code due.at}. */
    static final RunInsert RUN_INSERT = RunInsert.of("e", "e.id", "e.origin", "due.at")
            .with("key", "e.key")
            .with("schedule_id", "e.schedule")
            .with("parent_id", "e.parent");

    private static final String RETURNING_STORED = "ON CONFLICT DO NOTHING RETURNING id, queue, project, due_at";

    private static final String INSERT = RUN_INSERT.from("""
              unnest(:projects::text[], :ids::uuid[], :queues::text[], :priorities::smallint[], :origins::text[],
                :targets::text[],
                          :names::text[], :codecs::text[], :payloads::bytea[], :keys::text[], :schedules::uuid[],
                          :instants::timestamptz[],
                          :delays::float8[], :headerTexts::text[], :policies::text[], :parents::uuid[])
                     AS e(project, id, queue, priority, origin, target, target_name, codec, payload, key, schedule,
                       instant, delay, headers, policy, parent),
                   LATERAL (SELECT coalesce(e.instant, carillon.clock() + make_interval(secs => e.delay)) AS at) due
            """ + RETURNING_STORED);

    // For a single run: a row of plain values costs client and server half of what sixteen arrays of one element cost.
    private static final String INSERT_ONE = RunInsert.ofParameters("due.at")
            .with("key", ":key")
            .with("schedule_id", ":schedule")
            .with("parent_id", ":parent")
            .from("""
              (SELECT coalesce(:instant::timestamptz, carillon.clock() + make_interval(secs => :delay)) AS at) due
            """ + RETURNING_STORED);

    // The nodes use this number to agree which of them claims. It is the same for all of a transaction, so that equal
    // notifications fold into one.
    private static final String NODE_SELECTOR = "' ' || mod(pg_current_xact_id()::text::bigint, 100000)";

    // The notification is part of the transaction: one for each lane, and equal notifications of a transaction fold
    // into one.
    private static final String NOTIFY_LANES = """
            ), notifications AS (
            SELECT pg_notify('carillon', 'work ' || queue || ' ' || project || ' '
                     || CASE WHEN min(due_at) <= carillon.clock() THEN 0
                             ELSE (extract(epoch FROM min(due_at)) * 1000)::bigint END ||\s""" + NODE_SELECTOR + """
                     )
              FROM stored GROUP BY queue, project)
            SELECT id, (SELECT count(*) FROM notifications) FROM stored
            """;

    private static final String INSERT_AND_NOTIFY = "WITH stored AS (" + INSERT + NOTIFY_LANES;

    private static final String INSERT_ONE_AND_NOTIFY = "WITH stored AS (" + INSERT_ONE + """
            )
            SELECT id, pg_notify('carillon', 'work ' || queue || ' ' || project || ' '
                         || CASE WHEN due_at <= carillon.clock() THEN 0
                                 ELSE (extract(epoch FROM due_at) * 1000)::bigint END
                         ||\s""" + NODE_SELECTOR + """
                         )
              FROM stored
            """;

    // Two lookups by two indexes: joined by OR they become a scan of all runs of the project, for each row.
    private static final String FIND_DUPLICATES = """
            SELECT e.id AS requested_id, existing.id AS existing_id
              FROM unnest(:projects::text[], :ids::uuid[], :handlers::text[], :keys::text[])
                AS e(project, id, handler, key),
                   LATERAL ((SELECT r.id FROM carillon.run r WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id
                     ORDER BY r.id)
                            UNION ALL
                            (SELECT r.id FROM carillon.run r
                              WHERE r.project = e.project AND r.target_name BETWEEN e.handler AND e.handler
                                AND r.key BETWEEN e.key AND e.key
                              ORDER BY r.target_name, r.key LIMIT 1)) existing
            """;

    // Keys belong to a handler. All calls use one order, so that no deadlock arises; of several runs with the same key
    // the first one gets it.
    private static final String HOLD_KEYS = """
            INSERT INTO carillon.unique_key_window AS h (project, handler, key, run_id, until)
            SELECT DISTINCT ON (e.project COLLATE "C", e.handler COLLATE "C", e.key COLLATE "C") e.project, e.handler,
              e.key, e.id, carillon.clock() + make_interval(secs => e.window_seconds)
              FROM unnest(:projects::text[], :ids::uuid[], :handlers::text[], :keys::text[], :windows::float8[])
                     WITH ORDINALITY AS e(project, id, handler, key, window_seconds, ordinal)
             ORDER BY e.project COLLATE "C", e.handler COLLATE "C", e.key COLLATE "C", e.ordinal
            ON CONFLICT (project, handler, key) DO UPDATE SET run_id = excluded.run_id, until = excluded.until
             WHERE h.until <= carillon.clock()
            RETURNING run_id
            """;

    private static final String FIND_KEY_HOLDERS = """
            SELECT e.id AS requested_id, h.run_id AS existing_id
              FROM unnest(:projects::text[], :ids::uuid[], :handlers::text[], :keys::text[])
                AS e(project, id, handler, key)
              JOIN carillon.unique_key_window h ON h.project = e.project AND h.handler = e.handler AND h.key = e.key
                AND h.until > carillon.clock()
            """;

    // A run that was not stored, because another live run has its key, must not hold the key.
    private static final String RELEASE_KEYS = """
            DELETE FROM carillon.unique_key_window h
             USING unnest(:projects::text[], :ids::uuid[], :handlers::text[], :keys::text[])
               AS e(project, id, handler, key)
             WHERE h.project = e.project AND h.handler = e.handler AND h.key = e.key AND h.run_id = e.id
            """;

    // PostgreSQL compares names byte by byte. Runs without a unique key come first, because they wait for no other run.
    private static final Comparator<String> BYTEWISE =
            (one, other) -> Arrays.compareUnsigned(one.getBytes(UTF_8), other.getBytes(UTF_8));

    private static final Comparator<NewRun> BY_UNIQUE_KEY = Comparator.comparing(
            run -> run.uniqueKey() == null ? null : run,
            Comparator.nullsFirst(
                    Comparator.comparing((NewRun run) -> run.lane().project(), BYTEWISE)
                            .thenComparing(run -> run.target().name(), BYTEWISE)
                            .thenComparing(run -> requireNonNull(run.uniqueKey()), BYTEWISE)));

    private final Database database;
    private final RunCopy copy;
    private final GroupCommit<NewRun, EnqueueResult> withoutNotify;
    private final GroupCommit<NewRun, EnqueueResult> withNotify;

    public NewRunRepository(Database database) {
        this.database = database;
        this.copy = new RunCopy(database);
        // While one commit waits for the disk, the next group is written. Commits with a NOTIFY wait for
        // each other anyway.
        this.withoutNotify = new GroupCommit<>(2, runs -> storeGroup(runs, false));
        this.withNotify = new GroupCommit<>(1, runs -> storeGroup(runs, true));
    }

    @Override
    public List<EnqueueResult> enqueue(List<NewRun> runs, boolean notifyNodes) {
        // A call that waits for the lock of a FIFO key must not delay calls without a gate.
        boolean gated = runs.stream().anyMatch(run -> run.gate() != null);
        boolean withWindow = runs.stream().anyMatch(run -> run.keyWindow() != null);
        if (withWindow) return database.transaction(session -> storeInTransaction(session, runs, notifyNodes));
        if (runs.size() == 1 && !gated) return List.of((notifyNodes ? withNotify : withoutNotify).submit(runs.get(0)));
        boolean mixed = gated && runs.stream().anyMatch(run -> run.gate() == null);
        if (runs.size() <= CHUNK && !mixed) return storeGroup(runs, notifyNodes);
        if (copy.supports(runs) && copy.store(runs, notifyNodes))
            return runs.stream()
                    .<EnqueueResult>map(run -> new EnqueueResult.Enqueued(run.id()))
                    .toList();
        return database.transaction(session -> storeInTransaction(session, runs, notifyNodes));
    }

    private List<EnqueueResult> storeGroup(List<NewRun> runs, boolean notifyNodes) {
        return database.single(session -> store(session, runs, notifyNodes));
    }

    @Override
    public List<EnqueueResult> enqueueIn(Connection caller, List<NewRun> runs, boolean notifyNodes) {
        try {
            return storeInTransaction(database.on(caller), runs, notifyNodes);
        } catch (SQLException failure) {
            throw new StorageException(failure);
        }
    }

    /** Stores runs in one transaction: FIFO keys are locked first, all of them in one order. */
    private static List<EnqueueResult> storeInTransaction(Session session, List<NewRun> runs, boolean notifyNodes)
            throws SQLException {
        if (runs.size() > CHUNK) GatedRunInsert.lockFifoKeys(session, runs);
        return store(session, runs, notifyNodes);
    }

    /**
     * Stores runs. Every call takes the windows of all its keys before the keys, and both in one order, so that no two
     * calls deadlock.
     */
    private static List<EnqueueResult> store(Session session, List<NewRun> runs, boolean notifyNodes)
            throws SQLException {
        Map<RunId, EnqueueResult> results = new HashMap<>();
        List<NewRun> withWindow = runs.stream()
                .filter(run -> run.keyWindow() != null)
                .sorted(BY_UNIQUE_KEY)
                .toList();
        for (List<NewRun> chunk : chunks(withWindow)) results.putAll(holdKeys(session, chunk));
        for (List<NewRun> chunk : chunks(inLockOrder(without(runs, results))))
            results.putAll(storeChunk(session, chunk, notifyNodes));
        List<NewRun> duplicates = withWindow.stream()
                .filter(run -> results.get(run.id()) instanceof EnqueueResult.Duplicate)
                .toList();
        for (List<NewRun> chunk : chunks(duplicates))
            bindKeys(session.query(RELEASE_KEYS), chunk).update();
        return runs.stream().map(run -> requireNonNull(results.get(run.id()))).toList();
    }

    /**
     * Returns runs with a FIFO key in the given order, which is the order of the key, and then the others
     * by unique key.
     */
    private static List<NewRun> inLockOrder(List<NewRun> runs) {
        if (runs.size() == 1) return runs;
        List<NewRun> ordered =
                new ArrayList<>(runs.stream().filter(GatedRunInsert::isFifo).toList());
        runs.stream()
                .filter(run -> !GatedRunInsert.isFifo(run))
                .sorted(BY_UNIQUE_KEY)
                .forEach(ordered::add);
        return ordered;
    }

    private static List<List<NewRun>> chunks(List<NewRun> runs) {
        List<List<NewRun>> chunks = new ArrayList<>();
        for (int from = 0; from < runs.size(); from += CHUNK)
            chunks.add(runs.subList(from, Math.min(runs.size(), from + CHUNK)));
        return chunks;
    }

    /** Stores a chunk. A key may be released between the insert and the lookup; then the insert is repeated. */
    private static Map<RunId, EnqueueResult> storeChunk(Session session, List<NewRun> runs, boolean notifyNodes)
            throws SQLException {
        Map<RunId, EnqueueResult> results = new HashMap<>();
        List<NewRun> remaining = runs;
        for (int turn = 0; !remaining.isEmpty(); turn++) {
            if (turn == MAX_TRIES) throw keyContention(remaining.get(0));
            for (RunId stored : insert(session, remaining, notifyNodes))
                results.put(stored, new EnqueueResult.Enqueued(stored));
            remaining = without(remaining, results);
            if (!remaining.isEmpty()) results.putAll(findDuplicates(session, remaining));
            remaining = without(remaining, results);
        }
        return results;
    }

    /** Takes the keys of these runs for their windows; returns a result for each run whose key another run holds. */
    private static Map<RunId, EnqueueResult> holdKeys(Session session, List<NewRun> runs) throws SQLException {
        Map<RunId, EnqueueResult> answers = new HashMap<>();
        List<NewRun> remaining = runs;
        for (int turn = 0; !remaining.isEmpty(); turn++) {
            if (turn == MAX_TRIES) throw keyContention(remaining.get(0));
            Set<RunId> ours = new HashSet<>(bindKeys(session.query(HOLD_KEYS), remaining)
                    .column(
                            "windows",
                            "float8",
                            remaining,
                            run -> DatabaseTime.seconds(requireNonNull(run.keyWindow())))
                    .list(row -> AttemptRows.runId(row, "run_id")));
            remaining =
                    remaining.stream().filter(run -> !ours.contains(run.id())).toList();
            if (!remaining.isEmpty()) answers.putAll(readResults(bindKeys(session.query(FIND_KEY_HOLDERS), remaining)));
            remaining = without(remaining, answers);
        }
        return answers;
    }

    private static List<NewRun> without(List<NewRun> runs, Map<RunId, EnqueueResult> known) {
        return runs.stream().filter(run -> !known.containsKey(run.id())).toList();
    }

    private static List<RunId> insert(Session session, List<NewRun> runs, boolean notifyNodes) throws SQLException {
        List<NewRun> plain =
                runs.stream().filter(run -> run.gate() == null && !run.awaits()).toList();
        if (plain.size() == runs.size()) return insertUngated(session, runs, notifyNodes);
        List<NewRun> waiting = runs.stream().filter(NewRun::awaits).toList();
        List<NewRun> gated =
                runs.stream().filter(run -> run.gate() != null && !run.awaits()).toList();
        List<RunId> stored = new ArrayList<>();
        if (!waiting.isEmpty()) stored.addAll(WaitingRunInsert.insert(session, waiting, notifyNodes));
        if (!gated.isEmpty()) stored.addAll(GatedRunInsert.insert(session, gated, notifyNodes));
        if (!plain.isEmpty()) stored.addAll(insertUngated(session, plain, notifyNodes));
        return stored;
    }

    private static List<RunId> insertUngated(Session session, List<NewRun> runs, boolean notifyNodes)
            throws SQLException {
        if (runs.size() == 1) return insertOne(session, runs.get(0), notifyNodes ? INSERT_ONE_AND_NOTIFY : INSERT_ONE);
        return bindRuns(session.query(notifyNodes ? INSERT_AND_NOTIFY : INSERT), runs)
                .list(row -> AttemptRows.runId(row, "id"));
    }

    /** Binds the columns that every insert of many runs has. */
    static Query bindRuns(Query query, List<NewRun> runs) throws SQLException {
        return query.column("projects", "text", runs, run -> run.lane().project())
                .column("ids", "uuid", runs, run -> run.id().value())
                .column("queues", "text", runs, run -> run.lane().queue())
                .column("priorities", "smallint", runs, run -> run.priority().number())
                .column("origins", "text", runs, run -> run.origin().text())
                .column("targets", "text", runs, run -> run.target().kind())
                .column("names", "text", runs, run -> run.target().name())
                .column("codecs", "text", runs, run -> run.payload().codec())
                .column("payloads", "bytea", runs, run -> run.payload().bytes())
                .column("keys", "text", runs, NewRun::uniqueKey)
                .column("schedules", "uuid", runs, NewRun::schedule)
                .column(
                        "instants",
                        "timestamptz",
                        runs,
                        run -> run.due() instanceof Enqueue.Due.At at ? at.instant() : null)
                .column("delays", "float8", runs, NewRunRepository::delay)
                .column("headerTexts", "text", runs, NewRun::headers)
                .column("policies", "text", runs, run -> PolicyText.of(run.policy()))
                .column("parents", "uuid", runs, NewRunRepository::parent);
    }

    private static List<RunId> insertOne(Session session, NewRun run, String sql) throws SQLException {
        return session.query(sql)
                .text("project", run.lane().project())
                .uuid("id", run.id().value())
                .text("queue", run.lane().queue())
                .number("priority", run.priority().number())
                .text("origin", run.origin().text())
                .text("target", run.target().kind())
                .text("name", run.target().name())
                .text("codec", run.payload().codec())
                .bytes("payload", run.payload().bytes())
                .text("key", run.uniqueKey())
                .uuid("schedule", run.schedule())
                .uuid("parent", parent(run))
                .text("headers", run.headers())
                .text("policy", PolicyText.of(run.policy()))
                .instant("instant", run.due() instanceof Enqueue.Due.At at ? at.instant() : null)
                .seconds("delay", run.due() instanceof Enqueue.Due.After after ? after.delay() : null)
                .list(row -> AttemptRows.runId(row, "id"));
    }

    private static @Nullable UUID parent(NewRun run) {
        RunId parent = run.parent();
        return parent == null ? null : parent.value();
    }

    private static @Nullable Double delay(NewRun run) {
        return run.due() instanceof Enqueue.Due.After after ? DatabaseTime.seconds(after.delay()) : null;
    }

    private static Map<RunId, EnqueueResult> findDuplicates(Session session, List<NewRun> runs) throws SQLException {
        return readResults(bindKeys(session.query(FIND_DUPLICATES), runs));
    }

    private static Query bindKeys(Query query, List<NewRun> runs) throws SQLException {
        return query.column("projects", "text", runs, run -> run.lane().project())
                .column("ids", "uuid", runs, run -> run.id().value())
                .column("handlers", "text", runs, run -> run.target().name())
                .column("keys", "text", runs, NewRun::uniqueKey);
    }

    /** Reads the results. A run that is found under its own id was stored by a statement whose answer was lost. */
    private static Map<RunId, EnqueueResult> readResults(Query query) throws SQLException {
        Map<RunId, EnqueueResult> found = new HashMap<>();
        query.list(row -> {
            RunId asked = AttemptRows.runId(row, "requested_id");
            RunId there = AttemptRows.runId(row, "existing_id");
            return found.put(
                    asked,
                    asked.equals(there) ? new EnqueueResult.Enqueued(there) : new EnqueueResult.Duplicate(there));
        });
        return found;
    }

    private static CarillonException keyContention(NewRun run) {
        return new CarillonException(
                ErrorCode.STORAGE,
                "The unique key '%s' of handler '%s' was taken and released %d times during one enqueue. Try again."
                        .formatted(run.uniqueKey(), run.target().name(), MAX_TRIES));
    }
}
