package io.carillon.postgres;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.carillon.postgres.sql.NewRunRows;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.NewRun;
import io.carillon.run.RunId;
import io.carillon.store.RunInbox;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
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
import org.jspecify.annotations.Nullable;

/** Stores new runs. The ids come from the caller's side, so that repeating a statement whose answer was lost stores nothing twice. */
final class InboxRepository implements RunInbox {
    private static final int CHUNK = 2_000;
    private static final int TURNS = 20;

    /** New runs from rows {@code e} that are due at {@code due.at}. */
    static final NewRunRows ROWS = NewRunRows.of("e", "e.id", "e.origin", "due.at")
            .with("key", "e.key")
            .with("schedule_id", "e.schedule");

    private static final String STORED = "ON CONFLICT DO NOTHING RETURNING id, queue, project, due_at";

    private static final String INSERT = ROWS.from("""
              unnest(:projects::text[], :ids::uuid[], :queues::text[], :classes::smallint[], :origins::text[], :targets::text[],
                          :names::text[], :codecs::text[], :payloads::bytea[], :keys::text[], :schedules::uuid[], :instants::timestamptz[],
                          :delays::float8[], :traces::text[])
                     AS e(project, id, queue, class, origin, target, target_name, codec, payload, key, schedule, instant, delay, trace),
                   LATERAL (SELECT coalesce(e.instant, carillon.clock() + make_interval(secs => e.delay)) AS at) due
            """ + STORED);

    // One run alone: a row of plain values costs both sides half of what thirteen arrays of one do.
    private static final String INSERT_ONE = NewRunRows.ofParameters("due.at")
            .with("key", ":key")
            .with("schedule_id", ":schedule")
            .from("""
              (SELECT coalesce(:instant::timestamptz, carillon.clock() + make_interval(secs => :delay)) AS at) due
            """ + STORED);

    // By the lot the nodes agree who of them goes; one for each transaction, so that equal hints fold.
    private static final String LOT = "' ' || mod(pg_current_xact_id()::text::bigint, 100000)";

    // The hint rides along: one for each lane, and equal ones of a transaction fold into one.
    private static final String TELLING = """
            ), hints AS (
            SELECT pg_notify('carillon', 'work ' || queue || ' ' || project || ' '
                     || CASE WHEN min(due_at) <= carillon.clock() THEN 0
                             ELSE (extract(epoch FROM min(due_at)) * 1000)::bigint END ||\s""" + LOT + """
                     )
              FROM stored GROUP BY queue, project)
            SELECT id, (SELECT count(*) FROM hints) FROM stored
            """;

    private static final String INSERT_AND_NOTIFY = "WITH stored AS (" + INSERT + TELLING;

    private static final String INSERT_ONE_AND_NOTIFY = "WITH stored AS (" + INSERT_ONE + """
            )
            SELECT id, pg_notify('carillon', 'work ' || queue || ' ' || project || ' '
                         || CASE WHEN due_at <= carillon.clock() THEN 0 ELSE (extract(epoch FROM due_at) * 1000)::bigint END ||\s""" + LOT + """
                         )
              FROM stored
            """;

    // Two look-ups by two indexes: joined by OR they become a walk through all runs of the project, for each row.
    private static final String ALREADY_THERE = """
            SELECT e.id AS asked, there.id AS found
              FROM unnest(:projects::text[], :ids::uuid[], :handlers::text[], :keys::text[]) AS e(project, id, handler, key),
                   LATERAL ((SELECT r.id FROM carillon.run r WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id ORDER BY r.id)
                            UNION ALL
                            (SELECT r.id FROM carillon.run r
                              WHERE r.project = e.project AND r.target_name BETWEEN e.handler AND e.handler AND r.key BETWEEN e.key AND e.key
                              ORDER BY r.target_name, r.key LIMIT 1)) there
            """;

    // Keys belong to a handler, whose name stands in the column queue. In one order, so that nobody waits in a circle;
    // of several runs with the same key the first.
    private static final String HOLD = """
            INSERT INTO carillon.key_hold AS h (project, queue, key, run_id, until)
            SELECT DISTINCT ON (e.project COLLATE "C", e.handler COLLATE "C", e.key COLLATE "C") e.project, e.handler, e.key, e.id, carillon.clock() + make_interval(secs => e.secs)
              FROM unnest(:projects::text[], :ids::uuid[], :handlers::text[], :keys::text[], :windows::float8[])
                     WITH ORDINALITY AS e(project, id, handler, key, secs, place)
             ORDER BY e.project COLLATE "C", e.handler COLLATE "C", e.key COLLATE "C", e.place
            ON CONFLICT (project, queue, key) DO UPDATE SET run_id = excluded.run_id, until = excluded.until
             WHERE h.until <= carillon.clock()
            RETURNING run_id
            """;

    private static final String HELD_BY = """
            SELECT e.id AS asked, h.run_id AS found
              FROM unnest(:projects::text[], :ids::uuid[], :handlers::text[], :keys::text[]) AS e(project, id, handler, key)
              JOIN carillon.key_hold h ON h.project = e.project AND h.queue = e.handler AND h.key = e.key AND h.until > carillon.clock()
            """;

    // A run that was not stored, because another one lives under its key, holds nothing.
    private static final String LET_GO = """
            DELETE FROM carillon.key_hold h
             USING unnest(:projects::text[], :ids::uuid[], :handlers::text[], :keys::text[]) AS e(project, id, handler, key)
             WHERE h.project = e.project AND h.queue = e.handler AND h.key = e.key AND h.run_id = e.id
            """;

    // As PostgreSQL compares names: byte by byte. Runs without a key wait for nobody.
    private static final Comparator<String> BYTES =
            (one, other) -> Arrays.compareUnsigned(one.getBytes(UTF_8), other.getBytes(UTF_8));

    private static final Comparator<NewRun> BY_KEY = Comparator.comparing(
            run -> run.key() == null ? null : run,
            Comparator.nullsFirst(
                    Comparator.comparing((NewRun run) -> run.lane().project(), BYTES)
                            .thenComparing(run -> run.target().name(), BYTES)
                            .thenComparing(run -> requireNonNull(run.key()), BYTES)));

    private final Database database;
    private final RunCopy copy;
    private final Gathering<NewRun, EnqueueResult> quiet;
    private final Gathering<NewRun, EnqueueResult> telling;

    InboxRepository(Database database) {
        this.database = database;
        this.copy = new RunCopy(database);
        // While one commit waits for the disk the next is on its way; commits that carry a NOTIFY wait for each other
        // anyway.
        this.quiet = new Gathering<>(2, runs -> group(runs, false));
        this.telling = new Gathering<>(1, runs -> group(runs, true));
    }

    @Override
    public List<EnqueueResult> enqueue(List<NewRun> runs, boolean tell) {
        // Who waits for the lock of a line shall not keep others waiting who have none.
        boolean gated = runs.stream().anyMatch(run -> run.gate() != null);
        boolean held = runs.stream().anyMatch(run -> run.window() != null);
        if (held) return database.transaction(session -> inChunks(session, runs, tell));
        if (runs.size() == 1 && !gated) return List.of((tell ? telling : quiet).add(runs.get(0)));
        boolean mixed = gated && runs.stream().anyMatch(run -> run.gate() == null);
        if (runs.size() <= CHUNK && !mixed) return group(runs, tell);
        if (copy.takes(runs) && copy.store(runs, tell))
            return runs.stream()
                    .<EnqueueResult>map(run -> new EnqueueResult.Enqueued(run.id()))
                    .toList();
        return database.transaction(session -> inChunks(session, runs, tell));
    }

    private List<EnqueueResult> group(List<NewRun> runs, boolean tell) {
        return database.single(session -> store(session, runs, tell));
    }

    @Override
    public List<EnqueueResult> enqueueIn(Connection caller, List<NewRun> runs, boolean tell) {
        try {
            return inChunks(database.on(caller), runs, tell);
        } catch (SQLException failure) {
            throw new StorageException(failure);
        }
    }

    /** In one transaction: strict lines are locked first, all of them in one order. */
    private static List<EnqueueResult> inChunks(Session session, List<NewRun> runs, boolean tell) throws SQLException {
        if (runs.size() > CHUNK) GatedInbox.lock(session, runs);
        return store(session, runs, tell);
    }

    /** Every call takes the windows of all its keys before the keys, and both in one order, so that no two wait for each other. */
    private static List<EnqueueResult> store(Session session, List<NewRun> runs, boolean tell) throws SQLException {
        Map<RunId, EnqueueResult> results = new HashMap<>();
        List<NewRun> held =
                runs.stream().filter(run -> run.window() != null).sorted(BY_KEY).toList();
        for (List<NewRun> chunk : chunks(held)) results.putAll(hold(session, chunk));
        for (List<NewRun> chunk : chunks(inOrder(without(runs, results))))
            results.putAll(storeChunk(session, chunk, tell));
        List<NewRun> inVain = held.stream()
                .filter(run -> results.get(run.id()) instanceof EnqueueResult.AlreadyThere)
                .toList();
        for (List<NewRun> chunk : chunks(inVain))
            keyed(session.query(LET_GO), chunk).update();
        return runs.stream().map(run -> requireNonNull(results.get(run.id()))).toList();
    }

    /** Runs of strict lines as they came, since that is their order; the others by key. */
    private static List<NewRun> inOrder(List<NewRun> runs) {
        if (runs.size() == 1) return runs;
        List<NewRun> ordered =
                new ArrayList<>(runs.stream().filter(GatedInbox::strict).toList());
        runs.stream().filter(run -> !GatedInbox.strict(run)).sorted(BY_KEY).forEach(ordered::add);
        return ordered;
    }

    private static List<List<NewRun>> chunks(List<NewRun> runs) {
        List<List<NewRun>> chunks = new ArrayList<>();
        for (int from = 0; from < runs.size(); from += CHUNK)
            chunks.add(runs.subList(from, Math.min(runs.size(), from + CHUNK)));
        return chunks;
    }

    /** A key may be released between our insert and our look: then the insert is tried again. */
    private static Map<RunId, EnqueueResult> storeChunk(Session session, List<NewRun> runs, boolean tell)
            throws SQLException {
        Map<RunId, EnqueueResult> results = new HashMap<>();
        List<NewRun> open = runs;
        for (int turn = 0; !open.isEmpty(); turn++) {
            if (turn == TURNS) throw busyKey(open.get(0));
            for (RunId stored : insert(session, open, tell)) results.put(stored, new EnqueueResult.Enqueued(stored));
            open = without(open, results);
            if (!open.isEmpty()) results.putAll(alreadyThere(session, open));
            open = without(open, results);
        }
        return results;
    }

    /** Takes the keys of these runs for their windows; answers those whose key another run holds. */
    private static Map<RunId, EnqueueResult> hold(Session session, List<NewRun> runs) throws SQLException {
        Map<RunId, EnqueueResult> answers = new HashMap<>();
        List<NewRun> open = runs;
        for (int turn = 0; !open.isEmpty(); turn++) {
            if (turn == TURNS) throw busyKey(open.get(0));
            Set<RunId> ours = new HashSet<>(keyed(session.query(HOLD), open)
                    .column("windows", "float8", open, run -> DatabaseTime.seconds(requireNonNull(run.window())))
                    .list(row -> AttemptRows.runId(row, "run_id")));
            open = open.stream().filter(run -> !ours.contains(run.id())).toList();
            if (!open.isEmpty()) answers.putAll(found(keyed(session.query(HELD_BY), open)));
            open = without(open, answers);
        }
        return answers;
    }

    private static List<NewRun> without(List<NewRun> runs, Map<RunId, EnqueueResult> known) {
        return runs.stream().filter(run -> !known.containsKey(run.id())).toList();
    }

    private static List<RunId> insert(Session session, List<NewRun> runs, boolean tell) throws SQLException {
        List<NewRun> gated = runs.stream().filter(run -> run.gate() != null).toList();
        if (gated.isEmpty()) return insertUngated(session, runs, tell);
        List<RunId> stored = new ArrayList<>(GatedInbox.insert(session, gated, tell));
        List<NewRun> others = runs.stream().filter(run -> run.gate() == null).toList();
        if (!others.isEmpty()) stored.addAll(insertUngated(session, others, tell));
        return stored;
    }

    private static List<RunId> insertUngated(Session session, List<NewRun> runs, boolean tell) throws SQLException {
        if (runs.size() == 1) return insertOne(session, runs.get(0), tell ? INSERT_ONE_AND_NOTIFY : INSERT_ONE);
        return rows(session.query(tell ? INSERT_AND_NOTIFY : INSERT), runs).list(row -> AttemptRows.runId(row, "id"));
    }

    /** The columns every insert of many has. */
    static Query rows(Query query, List<NewRun> runs) throws SQLException {
        return query.column("projects", "text", runs, run -> run.lane().project())
                .column("ids", "uuid", runs, run -> run.id().value())
                .column("queues", "text", runs, run -> run.lane().queue())
                .column("classes", "smallint", runs, run -> run.priority().number())
                .column("origins", "text", runs, run -> run.origin().text())
                .column("targets", "text", runs, run -> run.target().kind())
                .column("names", "text", runs, run -> run.target().name())
                .column("codecs", "text", runs, run -> run.payload().codec())
                .column("payloads", "bytea", runs, run -> run.payload().bytes())
                .column("keys", "text", runs, NewRun::key)
                .column("schedules", "uuid", runs, NewRun::schedule)
                .column(
                        "instants",
                        "timestamptz",
                        runs,
                        run -> run.due() instanceof Enqueue.Due.At at ? at.instant() : null)
                .column("delays", "float8", runs, InboxRepository::delay)
                .column("traces", "text", runs, NewRun::trace);
    }

    private static List<RunId> insertOne(Session session, NewRun run, String sql) throws SQLException {
        return session.query(sql)
                .text("project", run.lane().project())
                .uuid("id", run.id().value())
                .text("queue", run.lane().queue())
                .number("class", run.priority().number())
                .text("origin", run.origin().text())
                .text("target", run.target().kind())
                .text("name", run.target().name())
                .text("codec", run.payload().codec())
                .bytes("payload", run.payload().bytes())
                .text("key", run.key())
                .uuid("schedule", run.schedule())
                .text("trace", run.trace())
                .instant("instant", run.due() instanceof Enqueue.Due.At at ? at.instant() : null)
                .seconds("delay", run.due() instanceof Enqueue.Due.After after ? after.delay() : null)
                .list(row -> AttemptRows.runId(row, "id"));
    }

    private static @Nullable Double delay(NewRun run) {
        return run.due() instanceof Enqueue.Due.After after ? DatabaseTime.seconds(after.delay()) : null;
    }

    private static Map<RunId, EnqueueResult> alreadyThere(Session session, List<NewRun> runs) throws SQLException {
        return found(keyed(session.query(ALREADY_THERE), runs));
    }

    private static Query keyed(Query query, List<NewRun> runs) throws SQLException {
        return query.column("projects", "text", runs, run -> run.lane().project())
                .column("ids", "uuid", runs, run -> run.id().value())
                .column("handlers", "text", runs, run -> run.target().name())
                .column("keys", "text", runs, NewRun::key);
    }

    /** A run that is found under its own id was stored by a statement whose answer was lost. */
    private static Map<RunId, EnqueueResult> found(Query query) throws SQLException {
        Map<RunId, EnqueueResult> found = new HashMap<>();
        query.list(row -> {
            RunId asked = AttemptRows.runId(row, "asked");
            RunId there = AttemptRows.runId(row, "found");
            return found.put(
                    asked,
                    asked.equals(there) ? new EnqueueResult.Enqueued(there) : new EnqueueResult.AlreadyThere(there));
        });
        return found;
    }

    private static CarillonException busyKey(NewRun run) {
        return new CarillonException(
                ErrorCode.STORAGE,
                "The key '%s' of handler '%s' was taken and released %d times while a run was being stored. Try again."
                        .formatted(run.key(), run.target().name(), TURNS));
    }
}
