package io.carillon.internal.postgres.run;

import static java.util.Objects.requireNonNull;

import io.carillon.Stats.RunStats;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.attempt.AttemptEndings;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.postgres.sql.HistoryInsert;
import io.carillon.internal.postgres.sql.RunInsert;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.run.UniqueKeys;
import io.carillon.internal.store.run.BulkAction;
import io.carillon.internal.store.run.BulkChunk;
import io.carillon.internal.store.run.BulkCursor;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.value.TextCleaner;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.AttemptRecord;
import io.carillon.run.CancelResult;
import io.carillon.run.Explanation;
import io.carillon.run.Payload;
import io.carillon.run.RedriveResult;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.run.RunState;
import io.carillon.workflow.RecordedStep;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The runs as users see them, and the actions of users on runs. */
public final class RunAdminRepository implements RunAdmin {
    static final String INSERT_CANCELLED = HistoryInsert.of("deleted", "'cancelled'")
            .with("reason", ":reason")
            .from("deleted RETURNING " + EndedRows.COLUMNS);

    private static final String CANCEL_WAITING = """
            WITH deleted AS MATERIALIZED (/* DELETE FROM carillon.run, UPDATE carillon.run */ SELECT *
              FROM carillon.end_waiting_runs(ARRAY[:project::text], ARRAY[:id::uuid], true))
            """ + INSERT_CANCELLED;

    // The share lock orders this statement and the release of the run: either the release sees the request, or this
    // statement sees that the run waits again. A workflow with steps to undo is not ended while it waits.
    private static final String CANCEL_RUNNING = """
            INSERT INTO carillon.cancel_request (project, run_id, reason)
            SELECT project, id, :reason FROM carillon.run WHERE project = :project AND id BETWEEN :id AND :id
              AND (owner IS NOT NULL OR carillon.undo_state(project, id) <> 'none')
             ORDER BY id FOR SHARE
            ON CONFLICT (project, run_id) DO UPDATE SET reason = excluded.reason
            """;

    static final String NOTIFY_CANCEL = "SELECT pg_notify('carillon', 'cancel')";

    private static final String END_STATE =
            "SELECT state FROM carillon.run_history WHERE project = :project AND id = :id";

    private static final RunInsert REDRIVEN = RunInsert.of("deleted", "deleted.new_id", "'redrive'", "carillon.clock()")
            .behindGate("deleted.gate_key", "deleted.gate_limit")
            .with("key", "deleted.key")
            .with("schedule_id", "deleted.schedule_id")
            .with("parent_id", "deleted.id");

    static final String INSERT_REDRIVEN = REDRIVEN.from("deleted RETURNING " + EndedRows.COLUMNS);

    // Deleting first decides the race between two redrives. If the new run's key is taken, nothing is changed.
    private static final String REDRIVE = """
            WITH deleted AS (
              DELETE FROM carillon.dead_run d WHERE d.project = :project AND d.id = :id
                 AND NOT EXISTS (SELECT 1 FROM carillon.run r
                                  WHERE d.key IS NOT NULL AND r.project = d.project AND r.target_name = d.target_name
                                    AND r.key = d.key)
                 AND (NOT :keepSteps OR EXISTS (SELECT 1 FROM carillon.run_history h
                                                 WHERE h.project = d.project AND h.id = d.id))
              RETURNING d.*, :new::uuid AS new_id),
            """
            + StepRows.copyOfDead() + ", redriven AS ("
            + REDRIVEN.with("payload", "coalesce(:payload::bytea, deleted.payload)")
                    .with("codec", "coalesce(:codec::text, deleted.codec)")
                    .from("deleted RETURNING " + EndedRows.COLUMNS)
            + ") SELECT " + EndedRows.COLUMNS + " FROM redriven";

    private static final String CHILDREN = """
            (SELECT r.id FROM carillon.run r
              WHERE r.project = :project AND r.parent_id = :parent AND r.origin = 'workflow' LIMIT :limit)
            UNION ALL
            (SELECT h.id FROM carillon.run_history h
              WHERE h.project = :project AND h.parent_id = :parent AND h.origin = 'workflow' LIMIT :limit)
            """;

    // The run is live, dead or in the history, which keeps the payload of some handlers.
    private static final String PAYLOAD = """
            SELECT payload, codec FROM carillon.run WHERE project = :project AND id BETWEEN :id AND :id
            UNION ALL
            SELECT payload, codec FROM carillon.dead_run WHERE project = :project AND id = :id
            UNION ALL
            SELECT payload, payload_codec FROM carillon.run_history
             WHERE project = :project AND id = :id AND payload IS NOT NULL
             LIMIT 1
            """;

    private static final String DEAD_KEY =
            "SELECT queue, key FROM carillon.dead_run WHERE project = :project AND id = :id";

    private static final String FIND_REDRIVEN = """
            SELECT id FROM carillon.run WHERE project = :project AND parent_id = :id AND id = :new
            """;

    private static final String LIST_DEAD = """
            SELECT id FROM carillon.dead_run
             WHERE project = :project AND (:queue::text IS NULL OR queue = :queue)
               AND (:handler::text IS NULL OR target_name = :handler)
               AND (:state::text IS NULL OR state = :state)
             ORDER BY died_at LIMIT :limit
            """;

    private static final String COUNT = """
            SELECT matching, complete
              FROM carillon.count_runs(:project, :queue::text, :handler::text, :state::text, :rows)
            """;

    /** Runs whose due time no schedule and no gate determines. */
    static final String MOVABLE = "owner IS NULL AND planned_at IS NULL AND parked IS NULL AND gate_key IS NULL AND ";

    private static final String LOCK_MOVABLE = "SELECT ctid AS row_ctid FROM carillon.run WHERE " + MOVABLE
            + "project = :project AND id BETWEEN :id AND :id ORDER BY id LIMIT 1 FOR UPDATE";

    private static final String RESCHEDULE = """
            UPDATE carillon.run SET due_at = :due, ready_at = :due,
              day = (greatest(:due, carillon.clock()) AT TIME ZONE 'UTC')::date
             WHERE ctid = ANY (:ctids::tid[])
            """;

    private static final String UNKNOWN_HANDLERS = """
            SELECT target_name, count(*) AS runs FROM carillon.run WHERE parked = 'no-handler' GROUP BY target_name
              ORDER BY target_name LIMIT 100
            """;

    private final Database database;
    private final Partitions partitions;
    private final AttemptEndings attemptEndings;
    private final Uuid7.Sequence ids;
    private final BulkRunActions bulkActions;
    private final EndedRows endedRows;

    public RunAdminRepository(
            Database database, Partitions partitions, AttemptEndings attemptEndings, EndedRows endedRows) {
        this.database = database;
        this.partitions = partitions;
        this.attemptEndings = attemptEndings;
        this.endedRows = endedRows;
        this.ids = new Uuid7.Sequence(database.clock());
        this.bulkActions = new BulkRunActions(database, partitions, ids, this::redrive, endedRows);
    }

    @Override
    public boolean complete(String project, RunId run, int attempt, String digest, @Nullable String error) {
        return attemptEndings.complete(project, run, attempt, digest, error);
    }

    @Override
    public Optional<Run> get(String project, RunId run) {
        return database.single(session -> {
            Optional<Run> live =
                    bindRun(session.query(RunRows.SELECT_LIVE), project, run).first(RunRows::readLive);
            if (live.isPresent()) return live;
            return bindRun(session.query(RunRows.SELECT_ENDED), project, run).first(RunRows::readEnded);
        });
    }

    @Override
    public List<Run> children(String project, RunId parent) {
        List<RunId> ids = database.single(session -> session.query(CHILDREN)
                .text("project", project)
                .uuid("parent", parent.value())
                .number("limit", MAX_CHILDREN)
                .list(row -> AttemptRows.runId(row, "id")));
        return get(project, ids).stream()
                .sorted(Comparator.comparing(child -> child.id().value(), RunRows.BY_BYTES))
                .limit(MAX_CHILDREN)
                .toList();
    }

    @Override
    public List<Run> get(String project, Collection<RunId> runs) {
        return database.single(session -> {
            Set<UUID> ids = runs.stream().map(RunId::value).collect(Collectors.toCollection(LinkedHashSet::new));
            List<Run> found = new ArrayList<>(bindRuns(session.query(RunRows.SELECT_ALL_LIVE), project, ids)
                    .list(RunRows::readLive));
            found.forEach(run -> ids.remove(run.id().value()));
            if (!ids.isEmpty())
                found.addAll(bindRuns(session.query(RunRows.SELECT_ALL_ENDED), project, ids)
                        .list(RunRows::readEnded));
            return found;
        });
    }

    private static Query bindRuns(Query query, String project, Set<UUID> ids) throws SQLException {
        return query.text("project", project).uuids("ids", ids);
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
    public RunQuery.Page search(String project, RunQuery query) {
        return database.single(session -> RunSearch.page(session, project, query));
    }

    @Override
    public boolean reschedule(String project, RunId run, Instant due) {
        return database.transaction(session ->
                setDueTime(session, lockCtids(bindRun(session.query(LOCK_MOVABLE), project, run)), due) > 0);
    }

    static List<String> lockCtids(Query lock) throws SQLException {
        return lock.list(row -> row.text("row_ctid"));
    }

    static Query bindCtids(Query query, List<String> ctids) throws SQLException {
        return query.column("ctids", "tid", ctids, place -> place);
    }

    static int setDueTime(Session session, List<String> ctids, Instant due) throws SQLException {
        return bindCtids(session.query(RESCHEDULE), ctids).instant("due", due).update();
    }

    @Override
    public CancelResult cancel(String project, RunId run, String reason) {
        String clean = TextCleaner.clean(reason);
        return partitions.creatingMissing(() -> tryCancel(project, run, clean));
    }

    /** Cancels a run. The run may be claimed or end between two of the three statements; then they are repeated. */
    private CancelResult tryCancel(String project, RunId run, String reason) {
        return database.single(session -> {
            for (int turn = 0; turn < 3; turn++) {
                Query cancel =
                        bindRun(session.query(CANCEL_WAITING), project, run).text("reason", reason);
                if (endedRows.count(session, cancel, RunStats.Count.CANCELLED) > 0) return new CancelResult.Cancelled();
                if (bindRun(session.query(CANCEL_RUNNING), project, run)
                                .text("reason", reason)
                                .update()
                        > 0) {
                    session.query(NOTIFY_CANCEL).list(row -> row);
                    return new CancelResult.Requested();
                }
                Optional<String> state =
                        bindRun(session.query(END_STATE), project, run).first(row -> row.text("state"));
                if (state.isPresent()) return new CancelResult.AlreadyEnded(RunState.of(state.get()));
            }
            return new CancelResult.Unknown();
        });
    }

    @Override
    public List<RedriveResult> redrive(String project, List<RunId> dead) {
        List<RedriveResult> answers = new ArrayList<>();
        for (RunId run : dead) answers.add(redrive(project, run, null, false));
        return answers;
    }

    @Override
    public Optional<Payload> payload(String project, RunId run) {
        return database.single(session -> bindRun(session.query(PAYLOAD), project, run)
                .first(row -> new Payload(row.bytes("payload"), row.text("codec"))));
    }

    @Override
    public RedriveResult redrive(String project, RunId run, @Nullable Payload edited, boolean keepSteps) {
        UUID newId = ids.next();
        try {
            return database.withSavepoint(() -> database.single(session -> {
                Query redrive = bindRun(session.query(REDRIVE), project, run)
                        .uuid("new", newId)
                        .flag("keepSteps", keepSteps)
                        .bytes("payload", edited == null ? null : edited.bytes())
                        .text("codec", edited == null ? null : edited.codec());
                if (endedRows.count(session, redrive, RunStats.Count.REDRIVEN) > 0)
                    return new RedriveResult.Redriven(run, new RunId(newId));
                if (keepSteps) StepRows.requireHistory(session, project, run);
                Optional<RedriveResult> dead = findKeyConflict(session, project, run);
                if (dead.isPresent()) return dead.get();
                // Removed by an earlier write of this call whose answer was lost, or by another caller.
                boolean ours = hasRow(
                        bindRun(session.query(FIND_REDRIVEN), project, run).uuid("new", newId));
                return ours ? new RedriveResult.Redriven(run, new RunId(newId)) : new RedriveResult.NotDead(run);
            }));
        } catch (StorageException failure) {
            // Another transaction took the key meanwhile; nothing was changed.
            if (!failure.isUniqueViolation()) throw failure;
            return database.single(session -> findKeyConflict(session, project, run))
                    .orElse(new RedriveResult.NotDead(run));
        }
    }

    private static Optional<RedriveResult> findKeyConflict(Session session, String project, RunId run)
            throws SQLException {
        return bindRun(session.query(DEAD_KEY), project, run).first(row -> {
            String key = UniqueKeys.shown(row.text("queue"), row.maybeText("key"));
            return new RedriveResult.KeyTaken(run, key == null ? "" : key);
        });
    }

    @Override
    public List<RunId> dead(String project, RunFilter filter) {
        return database.single(session -> bindFilter(session.query(LIST_DEAD), project, filter)
                .number("limit", filter.limit())
                .text("state", filter.state() == null ? null : filter.state().text())
                .list(row -> AttemptRows.runId(row, "id")));
    }

    @Override
    public Count count(String project, RunFilter filter, long maxRead) {
        return database.single(session -> bindFilter(session.query(COUNT), project, filter)
                .number("rows", maxRead)
                .text("state", requireNonNull(filter.state()).text())
                .first(row -> new Count(row.number("matching"), row.flag("complete")))
                .orElseThrow());
    }

    static Query bindFilter(Query query, String project, RunFilter filter) throws SQLException {
        return query.text("project", project).text("queue", filter.queue()).text("handler", filter.handler());
    }

    @Override
    public BulkCursor beginBulk(String project, boolean dead) {
        return bulkActions.begin(project, dead);
    }

    @Override
    public BulkChunk bulk(String project, RunFilter filter, BulkAction action, BulkCursor cursor) {
        return bulkActions.apply(project, filter, action, cursor);
    }

    @Override
    public void awaitUnlocked(String project, RunFilter filter, BulkAction action, BulkCursor cursor) {
        bulkActions.awaitUnlocked(project, filter, action, cursor);
    }

    @Override
    public Optional<Explanation> explain(String project, RunId run) {
        return get(project, run).map(found -> database.single(session -> Explainer.explain(session, found)));
    }

    @Override
    public List<AttemptRecord> attempts(String project, RunId run) {
        return database.single(session -> bindRun(session.query(AttemptRows.EARLIER_ATTEMPTS), project, run)
                .list(AttemptRows::readRecord));
    }

    @Override
    public List<RecordedStep> steps(String project, RunId run, int from, int limit) {
        return database.single(session -> StepRows.list(session, project, run, from, limit));
    }

    @Override
    public Optional<RecordedStep> step(String project, RunId run, int position) {
        return database.single(session -> StepRows.one(session, project, run, position));
    }

    @Override
    public Map<String, Long> unknownHandlers() {
        Map<String, Long> found = new LinkedHashMap<>();
        database.single(session ->
                session.query(UNKNOWN_HANDLERS).list(row -> found.put(row.text("target_name"), row.number("runs"))));
        return found;
    }

    private static boolean hasRow(Query query) throws SQLException {
        return query.first(row -> row).isPresent();
    }

    private static Query bindRun(Query query, String project, RunId run) throws SQLException {
        return query.text("project", project).uuid("id", run.value());
    }
}
