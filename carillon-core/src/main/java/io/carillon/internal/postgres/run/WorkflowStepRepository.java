package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.store.run.WorkflowStepStore;
import io.carillon.internal.value.TextCleaner;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The store of the records of workflows. */
public final class WorkflowStepRepository implements WorkflowStepStore {
    private static final String LOAD = """
            SELECT position, path, codec, value, error, failures, until, recorded_at, carillon.clock() AS now
              FROM carillon.workflow_step WHERE project = :project AND run_id = :id ORDER BY position
            """;

    // The fence guards a write to another table, so it locks the run: an ending or a rescue waits for the commit, or
    // comes first and leaves no row here. The run itself is not written.
    private static final String RECORD = """
            WITH held AS MATERIALIZED (
              SELECT r.project, r.id, r.owner, r.attempt, r.failures FROM carillon.run r
               WHERE r.project = :project AND r.id BETWEEN :id AND :id AND r.owner = :owner AND r.attempt = :attempt
               ORDER BY r.id LIMIT 1 FOR NO KEY UPDATE)
            INSERT INTO carillon.workflow_step (project, run_id, position, path, kind, owner, attempt, failures, codec,
              value, error, until, recorded_at)
            SELECT project, id, :position, :path, CASE WHEN :sleep::float8 IS NULL THEN 'step' ELSE 'sleep' END, owner,
                   attempt, failures, :codec, :value, :error, carillon.clock() + make_interval(secs => :sleep),
                   carillon.clock()
              FROM held
            ON CONFLICT (project, run_id, position) DO NOTHING
            RETURNING position, path, codec, value, error, failures, until, recorded_at
            """;

    // The record of an earlier call whose answer was lost.
    private static final String FIND_OWN = """
            SELECT position, path, codec, value, error, failures, until, recorded_at FROM carillon.workflow_step
             WHERE project = :project AND run_id = :id AND position = :position AND owner = :owner
               AND attempt = :attempt
            """;

    private final Database database;

    public WorkflowStepRepository(Database database) {
        this.database = database;
    }

    @Override
    public Records load(String project, RunId run) {
        List<Instant> now = new ArrayList<>(List.of(Instant.EPOCH));
        List<StepRecord> steps = database.single(session -> session.query(LOAD)
                .text("project", project)
                .uuid("id", run.value())
                .list(row -> {
                    now.set(0, row.instant("now"));
                    return read(row);
                }));
        return new Records(steps, now.get(0));
    }

    @Override
    public Optional<StepRecord> record(Holder holder, NewStep step) {
        Payload value = step.value();
        String error = step.error();
        return database.single(session -> {
            Optional<StepRecord> written = bindHolder(session.query(RECORD), holder)
                    .number("position", step.position())
                    .text("path", step.path())
                    .text("codec", value == null ? null : value.codec())
                    .bytes("value", value == null ? null : value.bytes())
                    .text("error", error == null ? null : TextCleaner.clean(error))
                    .seconds("sleep", step.sleep())
                    .first(WorkflowStepRepository::read);
            if (written.isPresent()) return written;
            return bindHolder(session.query(FIND_OWN), holder)
                    .number("position", step.position())
                    .first(WorkflowStepRepository::read);
        });
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
                row.integer("position"),
                row.text("path"),
                codec == null ? null : new Payload(row.bytes("value"), codec),
                row.maybeText("error"),
                row.integer("failures"),
                row.maybeInstant("until"),
                row.instant("recorded_at"));
    }
}
