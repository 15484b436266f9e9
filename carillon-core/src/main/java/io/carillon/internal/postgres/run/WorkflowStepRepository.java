package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.store.run.WorkflowStepStore;
import io.carillon.internal.value.TextCleaner;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The store of the records of workflows. */
public final class WorkflowStepRepository implements WorkflowStepStore {
    private static final String LOAD = """
            SELECT kind, position, path, codec, value, error, failures, until, recorded_at, carillon.clock() AS now,
                   (SELECT c.reason FROM carillon.cancel_request c WHERE c.project = :project AND c.run_id = :id)
                     AS cancel_reason
              FROM carillon.workflow_step WHERE project = :project AND run_id = :id ORDER BY position
            """;

    // The fence guards a write to another table, so it locks the run: an ending or a rescue waits for the commit, or
    // comes first and leaves no row here. The run itself is not written.
    private static final String HELD = """
            WITH held AS MATERIALIZED (
              SELECT r.project, r.id, r.owner, r.attempt, r.failures FROM carillon.run r
               WHERE r.project = :project AND r.id BETWEEN :id AND :id AND r.owner = :owner AND r.attempt = :attempt
               ORDER BY r.id LIMIT 1 FOR NO KEY UPDATE)
            """;

    private static final String RECORD = HELD + insertStep();

    private static final String RECORD_ALL = HELD + """
            INSERT INTO carillon.workflow_step (project, run_id, position, path, kind, owner, attempt, failures,
              codec, value, error, recorded_at)
            SELECT held.project, held.id, e.position, e.path, e.kind, held.owner, held.attempt, held.failures,
                   e.codec, e.value, e.error, carillon.clock()
              FROM held CROSS JOIN unnest(:positions, :paths, :kinds, :codecs, :values, :errors)
                AS e(position, path, kind, codec, value, error)
            ON CONFLICT (project, run_id, position) DO NOTHING
            RETURNING kind, position, path, codec, value, error, failures, until, recorded_at
            """;

    private static final String RECORD_RUN_WAIT = HELD + ", recorded AS (" + insertStep() + """
            ),
            waits AS (
              INSERT INTO carillon.run_wait (project, run_id, awaited_id, on_failure)
              SELECT :project, :id, :awaitedRun, 'wake' FROM recorded ON CONFLICT DO NOTHING)
            SELECT * FROM recorded
            """;

    private static final String ANSWER_RUN = HELD + """
            , recorded AS (
              INSERT INTO carillon.workflow_step (project, run_id, position, path, kind, owner, attempt, failures,
                codec, value, error, recorded_at)
              SELECT held.project, held.id, :position, :path, 'run-ended', held.owner, held.attempt, held.failures,
                     CASE WHEN a.state = 'succeeded' THEN h.result_codec END,
                     CASE WHEN a.state = 'succeeded' THEN h.result END,
                     CASE WHEN a.state = 'gone' THEN 'it does not exist or has left the history'
                          WHEN a.state <> 'succeeded' THEN 'it ended ' || a.state || coalesce(': ' || h.reason, '') END,
                     carillon.clock()
                FROM held
                CROSS JOIN LATERAL carillon.awaited_run(held.project, :awaitedRun) a
                LEFT JOIN LATERAL (SELECT e.result_codec, e.result, e.reason FROM carillon.run_history e
                                    WHERE e.project = held.project AND e.id = a.current_id LIMIT 1) h ON true
               WHERE a.state <> 'pending'
              ON CONFLICT (project, run_id, position) DO NOTHING
              RETURNING kind, position, path, codec, value, error, failures, until, recorded_at),
            answered AS (
              DELETE FROM carillon.run_wait w USING recorded
               WHERE w.project = :project AND w.run_id = :id AND w.awaited_id = :awaitedRun)
            SELECT * FROM recorded
            """;

    // The fence as in RECORD. Only the holder of the run takes signals, and it inserts each record once, so the signal
    // that it read is still pending when it is taken.
    private static final String ANSWER = HELD + """
            , signal AS MATERIALIZED (
              SELECT s.project, s.run_id, s.send_id, s.codec, s.value FROM carillon.workflow_signal s
               WHERE s.project = :project AND s.run_id = :id AND s.name = :signal AND s.consumed_by IS NULL
               ORDER BY s.sent_at, s.send_id LIMIT 1),
            recorded AS (
              INSERT INTO carillon.workflow_step (project, run_id, position, path, kind, owner, attempt, failures,
                codec, value, recorded_at)
              SELECT held.project, held.id, :position, :path,
                     CASE WHEN signal.send_id IS NULL THEN 'timeout' ELSE 'signal' END, held.owner, held.attempt,
                     held.failures, signal.codec, signal.value, carillon.clock()
                FROM held
                JOIN carillon.workflow_step waiting ON waiting.project = held.project AND waiting.run_id = held.id
                 AND waiting.position = :position - 1 AND waiting.kind = 'await'
                LEFT JOIN signal ON true
               WHERE signal.send_id IS NOT NULL OR waiting.until <= carillon.clock()
              ON CONFLICT (project, run_id, position) DO NOTHING
              RETURNING kind, position, path, codec, value, error, failures, until, recorded_at),
            taken AS (
              UPDATE carillon.workflow_signal s SET consumed_by = recorded.position FROM recorded, signal
               WHERE s.project = signal.project AND s.run_id = signal.run_id AND s.send_id = signal.send_id)
            SELECT * FROM recorded
            """;

    // The record of an earlier call whose answer was lost.
    private static final String FIND_OWN = """
            SELECT kind, position, path, codec, value, error, failures, until, recorded_at FROM carillon.workflow_step
             WHERE project = :project AND run_id = :id AND position = :position AND owner = :owner
               AND attempt = :attempt
            """;

    /** Returns the insert of one record, which begins where the run is held. */
    private static String insertStep() {
        return """
                INSERT INTO carillon.workflow_step (project, run_id, position, path, kind, owner, attempt, failures,
                  codec, value, error, until, recorded_at, reserved)
                SELECT project, id, :position, :path, :kind, owner, attempt, failures, :codec, :value,
                       :error, carillon.clock() + make_interval(secs => :sleep), carillon.clock(), :reserved::integer
                  FROM held
                ON CONFLICT (project, run_id, position) DO NOTHING
                RETURNING kind, position, path, codec, value, error, failures, until, recorded_at
                """;
    }

    private final Database database;

    public WorkflowStepRepository(Database database) {
        this.database = database;
    }

    @Override
    public Records load(String project, RunId run) {
        List<Instant> now = new ArrayList<>(List.of(Instant.EPOCH));
        List<String> cancel = new ArrayList<>();
        List<StepRecord> steps = database.single(session -> session.query(LOAD)
                .text("project", project)
                .uuid("id", run.value())
                .list(row -> {
                    now.set(0, row.instant("now"));
                    @Nullable String reason = row.maybeText("cancel_reason");
                    if (reason != null && cancel.isEmpty()) cancel.add(reason);
                    return read(row);
                }));
        return new Records(steps, now.get(0), cancel.isEmpty() ? null : cancel.get(0));
    }

    @Override
    public Optional<StepRecord> record(Holder holder, NewStep step) {
        return record(RECORD, holder, step, null);
    }

    @Override
    public Optional<StepRecord> recordRunWait(Holder holder, NewStep step, RunId awaited) {
        return record(RECORD_RUN_WAIT, holder, step, awaited);
    }

    @Override
    public List<StepRecord> recordAll(Holder holder, List<NewStep> steps) {
        return database.single(session -> {
            Map<Integer, StepRecord> written = new HashMap<>();
            bindHolder(session.query(RECORD_ALL), holder)
                    .column("positions", "int4", steps, NewStep::position)
                    .column("paths", "text", steps, NewStep::path)
                    .column("kinds", "text", steps, step -> step.kind().text())
                    .column(
                            "codecs",
                            "text",
                            steps,
                            step -> step.value() == null ? null : step.value().codec())
                    .column(
                            "values",
                            "bytea",
                            steps,
                            step -> step.value() == null ? null : step.value().bytes())
                    .column(
                            "errors",
                            "text",
                            steps,
                            step -> step.error() == null ? null : TextCleaner.clean(step.error()))
                    .list(WorkflowStepRepository::read)
                    .forEach(one -> written.put(one.position(), one));
            List<StepRecord> all = new ArrayList<>();
            for (NewStep step : steps) {
                StepRecord one = written.get(step.position());
                if (one == null) one = findOwn(session, holder, step.position()).orElse(null);
                if (one == null) return List.of();
                all.add(one);
            }
            return all;
        });
    }

    @Override
    public Optional<StepRecord> recordIn(Connection transaction, Holder holder, NewStep step) {
        try {
            return record(database.on(transaction), RECORD, holder, step, null);
        } catch (SQLException failure) {
            throw new StorageException(failure);
        }
    }

    private Optional<StepRecord> record(String sql, Holder holder, NewStep step, @Nullable RunId awaited) {
        return database.single(session -> record(session, sql, holder, step, awaited));
    }

    private static Optional<StepRecord> record(
            Session session, String sql, Holder holder, NewStep step, @Nullable RunId awaited) throws SQLException {
        Payload value = step.value();
        String error = step.error();
        Query query = bindHolder(session.query(sql), holder)
                .number("position", step.position())
                .text("path", step.path())
                .text("kind", step.kind().text())
                .text("codec", value == null ? null : value.codec())
                .bytes("value", value == null ? null : value.bytes())
                .text("error", error == null ? null : TextCleaner.clean(error))
                .seconds("sleep", step.sleep())
                .number("reserved", step.reserved());
        if (awaited != null) query.uuid("awaitedRun", awaited.value());
        Optional<StepRecord> written = query.first(WorkflowStepRepository::read);
        return written.isPresent() ? written : findOwn(session, holder, step.position());
    }

    @Override
    public Optional<StepRecord> answerRun(Holder holder, int position, String path, RunId awaited) {
        return database.single(session -> {
            Optional<StepRecord> written = bindHolder(session.query(ANSWER_RUN), holder)
                    .number("position", position)
                    .text("path", path)
                    .uuid("awaitedRun", awaited.value())
                    .first(WorkflowStepRepository::read);
            return written.isPresent() ? written : findOwn(session, holder, position);
        });
    }

    @Override
    public Optional<StepRecord> answer(Holder holder, NewAnswer answer) {
        return database.single(session -> {
            Optional<StepRecord> written = bindHolder(session.query(ANSWER), holder)
                    .number("position", answer.position())
                    .text("path", answer.path())
                    .text("signal", answer.signal())
                    .first(WorkflowStepRepository::read);
            return written.isPresent() ? written : findOwn(session, holder, answer.position());
        });
    }

    private static Optional<StepRecord> findOwn(Session session, Holder holder, int position) throws SQLException {
        return bindHolder(session.query(FIND_OWN), holder)
                .number("position", position)
                .first(WorkflowStepRepository::read);
    }

    private static Query bindHolder(Query query, Holder holder) throws SQLException {
        return query.text("project", holder.project())
                .uuid("id", holder.run().value())
                .uuid("owner", holder.owner())
                .number("attempt", holder.attempt());
    }

    private static StepRecord read(Row row) throws SQLException {
        @Nullable String codec = row.maybeText("codec");
        return new StepRecord(
                StepKind.of(row.text("kind")),
                row.integer("position"),
                row.text("path"),
                codec == null ? null : new Payload(row.bytes("value"), codec),
                row.maybeText("error"),
                row.integer("failures"),
                row.maybeInstant("until"),
                row.instant("recorded_at"));
    }
}
