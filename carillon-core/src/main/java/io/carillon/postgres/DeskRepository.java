package io.carillon.postgres;

import static java.util.Objects.requireNonNull;

import io.carillon.postgres.sql.HistoryRows;
import io.carillon.postgres.sql.NewRunRows;
import io.carillon.run.Cancellation;
import io.carillon.run.Explanation;
import io.carillon.run.Redrive;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.run.RunState;
import io.carillon.store.AttemptRecord;
import io.carillon.store.BulkDeed;
import io.carillon.store.RunDesk;
import io.carillon.value.Text;
import io.carillon.value.Uuid7;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Runs as people see them, and what people do to them by hand. */
final class DeskRepository implements RunDesk {
    private static final String CANCELLED =
            HistoryRows.of("gone", "'cancelled'").with("reason", ":reason").from("gone RETURNING id");

    private static final String CANCEL_WAITING = """
            WITH gone AS MATERIALIZED (/* DELETE FROM carillon.run */ SELECT * FROM carillon.end_waiting(ARRAY[:project::text], ARRAY[:id::uuid], true))
            """ + CANCELLED;

    // The share lock orders us and whoever lets the run go: either that sees our order, or we see that the run waits
    // again.
    private static final String CANCEL_RUNNING = """
            INSERT INTO carillon.cancel_request (project, run_id, reason)
            SELECT project, id, :reason FROM carillon.run WHERE project = :project AND id BETWEEN :id AND :id AND owner IS NOT NULL
             ORDER BY id FOR SHARE
            ON CONFLICT (project, run_id) DO UPDATE SET reason = excluded.reason
            """;

    private static final String NOTIFY_CANCEL = "SELECT pg_notify('carillon', 'cancel')";

    private static final String END_STATE =
            "SELECT state FROM carillon.run_history WHERE project = :project AND id = :id";

    private static final String REDRIVEN = NewRunRows.of("gone", "gone.fresh", "'redrive'", "carillon.clock()")
            .behindGate("gone.gate_key", "gone.gate_max")
            .with("key", "gone.key")
            .with("policy", "gone.policy")
            .with("schedule_id", "gone.schedule_id")
            .with("parent_id", "gone.id")
            .from("gone RETURNING id");

    // Deleting first decides the race between two redrives; where the new run's key is taken, nothing has happened.
    private static final String REDRIVE = """
            WITH gone AS (
              DELETE FROM carillon.dead_run d WHERE d.project = :project AND d.id = :id
                 AND NOT EXISTS (SELECT 1 FROM carillon.run r
                                  WHERE d.key IS NOT NULL AND r.project = d.project AND r.target_name = d.target_name AND r.key = d.key)
              RETURNING d.*, :new::uuid AS fresh)
            """ + REDRIVEN;

    private static final String DEAD_KEY = "SELECT key FROM carillon.dead_run WHERE project = :project AND id = :id";

    private static final String REDRIVEN_AS = """
            SELECT id FROM carillon.run WHERE project = :project AND parent_id = :id AND id = :new
            """;

    private static final String DEAD = """
            SELECT id FROM carillon.dead_run
             WHERE project = :project AND (:queue::text IS NULL OR queue = :queue) AND (:handler::text IS NULL OR target_name = :handler)
               AND (:state::text IS NULL OR state = :state)
             ORDER BY died_at LIMIT :limit
            """;

    private static final String FILTER =
            "project = :project AND (:queue::text IS NULL OR queue = :queue) AND (:handler::text IS NULL OR target_name = :handler)";

    // With what was there at an instant, so that a bulk action ends however much comes in meanwhile.
    private static final String MATCHING = FILTER + " AND (:existing::timestamptz IS NULL OR created_at <= :existing)";

    private static final String MATCHING_DEAD =
            FILTER + " AND (:existing::timestamptz IS NULL OR died_at <= :existing)";

    private static final String COUNT_LIVING = "SELECT count(*) AS runs FROM (SELECT 1 FROM carillon.run WHERE "
            + FILTER + " AND (:state = 'running') = (owner IS NOT NULL) LIMIT :limit) found";

    private static final String COUNT_DEAD = "SELECT count(*) AS runs FROM (SELECT 1 FROM carillon.dead_run WHERE "
            + FILTER + " AND state = :state LIMIT :limit) found";

    // What is written by its place was locked by an earlier statement of the same transaction.
    private static final String LOCK_WAITING = "SELECT ctid AS place FROM carillon.run WHERE owner IS NULL AND "
            + MATCHING + " LIMIT 1000 FOR UPDATE SKIP LOCKED";

    private static final String CANCEL_MANY = """
            WITH gone AS (DELETE FROM carillon.run WHERE ctid = ANY (:places::tid[]) RETURNING *)
            """ + CANCELLED;

    private static final String LOCK_RUNNING = "SELECT ctid AS place FROM carillon.run r WHERE owner IS NOT NULL"
            + " AND NOT EXISTS (SELECT 1 FROM carillon.cancel_request c WHERE c.project = r.project AND c.run_id = r.id) AND "
            + MATCHING + " LIMIT 1000 FOR SHARE SKIP LOCKED";

    private static final String CANCEL_MANY_RUNNING = """
            INSERT INTO carillon.cancel_request (project, run_id, reason)
            SELECT project, id, :reason FROM carillon.run WHERE ctid = ANY (:places::tid[])
            ON CONFLICT (project, run_id) DO NOTHING RETURNING run_id
            """;

    /** Runs whose due time is nobody else's to decide: no ticks, none behind a gate. */
    private static final String MOVABLE =
            "owner IS NULL AND planned_at IS NULL AND parked IS NULL AND gate_key IS NULL AND ";

    private static final String LOCK_MOVABLE_MANY = "SELECT ctid AS place FROM carillon.run WHERE " + MOVABLE
            + "due_at <> :due AND " + MATCHING + " LIMIT 1000 FOR UPDATE SKIP LOCKED";

    private static final String LOCK_MOVABLE = "SELECT ctid AS place FROM carillon.run WHERE " + MOVABLE
            + "project = :project AND id BETWEEN :id AND :id ORDER BY id LIMIT 1 FOR UPDATE";

    private static final String RESCHEDULE = """
            UPDATE carillon.run SET due_at = :due, ready_at = :due, day = (greatest(:due, carillon.clock()) AT TIME ZONE 'UTC')::date
             WHERE ctid = ANY (:places::tid[])
            """;

    // Those with a key one by one: two of them may have the same.
    private static final String LOCK_DEAD = "SELECT ctid AS place FROM carillon.dead_run WHERE state = :state AND "
            + MATCHING_DEAD + " AND (:keyed OR key IS NULL) LIMIT 1000 FOR UPDATE SKIP LOCKED";

    private static final String REDRIVE_MANY = """
            WITH gone AS (
              DELETE FROM carillon.dead_run d USING unnest(:places::tid[], :ids::uuid[]) AS e(place, fresh)
               WHERE d.ctid = e.place RETURNING d.*, e.fresh)
            """ + REDRIVEN;

    private static final String DEAD_WITH_KEY =
            "SELECT id FROM carillon.dead_run d WHERE key IS NOT NULL AND state = :state AND "
                    + MATCHING_DEAD
                    + " AND NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = d.project AND r.target_name = d.target_name AND r.key = d.key) LIMIT 1000";

    private static final String DELETE_MANY = "DELETE FROM carillon.dead_run WHERE ctid = ANY (:places::tid[])";

    private static final String STRANGERS = """
            SELECT target_name, count(*) AS runs FROM carillon.run WHERE parked = 'no-handler' GROUP BY target_name ORDER BY target_name LIMIT 100
            """;

    private final Database database;
    private final Partitions partitions;
    private final Endings endings;
    private final Uuid7.Sequence ids;

    DeskRepository(Database database, Partitions partitions, Endings endings) {
        this.database = database;
        this.partitions = partitions;
        this.endings = endings;
        this.ids = new Uuid7.Sequence(database.clock());
    }

    @Override
    public boolean complete(String project, RunId run, int attempt, String digest, @Nullable String error) {
        return endings.complete(project, run, attempt, digest, error);
    }

    @Override
    public Optional<Run> get(String project, RunId run) {
        return database.single(session -> {
            Optional<Run> live =
                    named(session.query(RunRows.LIVE), project, run).first(RunRows::live);
            if (live.isPresent()) return live;
            return named(session.query(RunRows.ENDED), project, run).first(RunRows::ended);
        });
    }

    @Override
    public List<Run> list(String project, RunFilter filter) {
        return database.single(session -> RunRows.list(session, project, RunQuery.of(filter)));
    }

    @Override
    public List<Run> page(String project, RunQuery query) {
        return database.single(session -> RunRows.page(session, project, query));
    }

    @Override
    public boolean reschedule(String project, RunId run, Instant due) {
        return database.transaction(session ->
                moved(session, places(named(session.query(LOCK_MOVABLE), project, run)), due) > 0);
    }

    private static List<String> places(Query lock) throws SQLException {
        return lock.list(row -> row.text("place"));
    }

    private static Query at(Query query, List<String> places) throws SQLException {
        return query.column("places", "tid", places, place -> place);
    }

    private static int moved(Session session, List<String> places, Instant due) throws SQLException {
        return at(session.query(RESCHEDULE), places).instant("due", due).update();
    }

    @Override
    public Cancellation cancel(String project, RunId run, String reason) {
        String clean = Text.clean(reason);
        return partitions.completing(() -> tryCancel(project, run, clean));
    }

    /** A run may be claimed or end between two of the three looks: then they are taken again. */
    private Cancellation tryCancel(String project, RunId run, String reason) {
        return database.single(session -> {
            for (int turn = 0; turn < 3; turn++) {
                if (found(named(session.query(CANCEL_WAITING), project, run).text("reason", reason)))
                    return new Cancellation.Cancelled();
                if (named(session.query(CANCEL_RUNNING), project, run)
                                .text("reason", reason)
                                .update()
                        > 0) {
                    session.query(NOTIFY_CANCEL).list(row -> row);
                    return new Cancellation.Requested();
                }
                Optional<String> state =
                        named(session.query(END_STATE), project, run).first(row -> row.text("state"));
                if (state.isPresent()) return new Cancellation.AlreadyEnded(RunState.of(state.get()));
            }
            return new Cancellation.Unknown();
        });
    }

    @Override
    public List<Redrive> redrive(String project, List<RunId> dead) {
        List<Redrive> answers = new ArrayList<>();
        for (RunId run : dead) answers.add(redrive(project, run, ids.next()));
        return answers;
    }

    private Redrive redrive(String project, RunId run, UUID fresh) {
        try {
            return database.attempt(() -> database.single(session -> {
                if (found(named(session.query(REDRIVE), project, run).uuid("new", fresh)))
                    return new Redrive.Redriven(run, new RunId(fresh));
                Optional<Redrive> dead = stillDead(session, project, run);
                if (dead.isPresent()) return dead.get();
                // Gone from the dead letter: by an earlier write of ours whose answer was lost, or by somebody else's.
                boolean ours =
                        found(named(session.query(REDRIVEN_AS), project, run).uuid("new", fresh));
                return ours ? new Redrive.Redriven(run, new RunId(fresh)) : new Redrive.Gone(run);
            }));
        } catch (StorageException failure) {
            // Somebody took the key while we wrote; nothing has happened.
            if (!failure.duplicate()) throw failure;
            return database.single(session -> stillDead(session, project, run)).orElse(new Redrive.Gone(run));
        }
    }

    private static Optional<Redrive> stillDead(Session session, String project, RunId run) throws SQLException {
        return named(session.query(DEAD_KEY), project, run).first(row -> {
            String key = row.maybeText("key");
            return new Redrive.KeyTaken(run, key == null ? "" : key);
        });
    }

    @Override
    public List<RunId> dead(String project, RunFilter filter) {
        return database.single(session -> matching(session.query(DEAD), project, filter)
                .number("limit", filter.limit())
                .text("state", filter.state() == null ? null : filter.state().text())
                .list(row -> AttemptRows.runId(row, "id")));
    }

    @Override
    public long count(String project, RunFilter filter, long atMost) {
        return database.single(
                session -> matching(session.query(living(filter) ? COUNT_LIVING : COUNT_DEAD), project, filter)
                        .number("limit", atMost)
                        .text("state", requireNonNull(filter.state()).text())
                        .first(row -> row.number("runs"))
                        .orElse(0L));
    }

    private static boolean living(RunFilter filter) {
        return filter.state() == RunState.WAITING || filter.state() == RunState.RUNNING;
    }

    private static Query matching(Query query, String project, RunFilter filter) throws SQLException {
        return query.text("project", project).text("queue", filter.queue()).text("handler", filter.handler());
    }

    @Override
    public int bulk(String project, RunFilter filter, BulkDeed deed, @Nullable Instant existing) {
        Chosen chosen = new Chosen(project, filter, existing);
        try {
            if (deed instanceof BulkDeed.Redrive) return redriveMany(chosen);
            return partitions.completing(() -> database.transaction(session -> next(session, chosen, deed)));
        } catch (StorageException failure) {
            // The failure ends a caller's transaction, and how long that waits is the caller's choice.
            if (!failure.locked() || database.joins()) throw failure;
            return LOCKED;
        }
    }

    private static int next(Session session, Chosen chosen, BulkDeed deed) throws SQLException {
        if (deed instanceof BulkDeed.Cancel cancel) return cancelMany(session, chosen, cancel.reason());
        if (deed instanceof BulkDeed.Reschedule to) {
            Binding due = lock -> chosen.bind(lock).instant("due", to.due());
            return moved(session, next(session, LOCK_MOVABLE_MANY, due), to.due());
        }
        return at(session.query(DELETE_MANY), nextDead(session, chosen, true)).update();
    }

    /** The runs of a bulk action. */
    private record Chosen(
            String project, RunFilter filter, @Nullable Instant existing) {
        Query bind(Query query) throws SQLException {
            return matching(query, project, filter).instant("existing", existing);
        }

        Query dead(Query query) throws SQLException {
            return bind(query).text("state", requireNonNull(filter.state()).text());
        }
    }

    @FunctionalInterface
    private interface Binding {
        Query bind(Query lock) throws SQLException;
    }

    /** Locks the next rows of a bulk action. When only those are left that other transactions have locked, it waits for them: no row means that none is left. */
    private static List<String> next(Session session, String lock, Binding binding) throws SQLException {
        List<String> free = places(binding.bind(session.query(lock)));
        return free.isEmpty() ? places(binding.bind(session.query(lock.replace(" SKIP LOCKED", "")))) : free;
    }

    private static List<String> nextDead(Session session, Chosen chosen, boolean keyed) throws SQLException {
        return next(session, LOCK_DEAD, lock -> chosen.dead(lock).flag("keyed", keyed));
    }

    private static int cancelMany(Session session, Chosen chosen, String reason) throws SQLException {
        boolean waiting = chosen.filter.state() == RunState.WAITING;
        List<String> places = next(session, waiting ? LOCK_WAITING : LOCK_RUNNING, chosen::bind);
        int done = at(session.query(waiting ? CANCEL_MANY : CANCEL_MANY_RUNNING), places)
                .text("reason", Text.clean(reason))
                .list(row -> row)
                .size();
        if (done > 0 && !waiting) session.query(NOTIFY_CANCEL).list(row -> row);
        // Others told these runs meanwhile: there may be more.
        return done > 0 || places.isEmpty() ? done : cancelMany(session, chosen, reason);
    }

    private int redriveMany(Chosen chosen) {
        int many = database.transaction(session -> {
            List<String> places = nextDead(session, chosen, false);
            return at(session.query(REDRIVE_MANY), places)
                    .column("ids", "uuid", places, place -> ids.next())
                    .list(row -> row)
                    .size();
        });
        if (many > 0) return many;
        List<RunId> keyed = database.single(
                session -> chosen.dead(session.query(DEAD_WITH_KEY)).list(row -> AttemptRows.runId(row, "id")));
        return (int) redrive(chosen.project, keyed).stream()
                .filter(Redrive.Redriven.class::isInstance)
                .count();
    }

    @Override
    public Optional<Explanation> explain(String project, RunId run) {
        return get(project, run).map(found -> database.single(session -> Explainer.explain(session, found)));
    }

    @Override
    public List<AttemptRecord> attempts(String project, RunId run) {
        return database.single(session ->
                named(session.query(AttemptRows.EARLIER), project, run).list(AttemptRows::record));
    }

    @Override
    public Map<String, Long> strangers() {
        Map<String, Long> found = new LinkedHashMap<>();
        database.single(session ->
                session.query(STRANGERS).list(row -> found.put(row.text("target_name"), row.number("runs"))));
        return found;
    }

    private static boolean found(Query query) throws SQLException {
        return query.first(row -> row).isPresent();
    }

    private static Query named(Query query, String project, RunId run) throws SQLException {
        return query.text("project", project).uuid("id", run.value());
    }
}
