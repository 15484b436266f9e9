package io.carillon.postgres;

import io.carillon.run.Lane;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Progress;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Target;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads runs for people, from the hot table and from history. */
final class RunRows {
    private static final String LIVE_COLUMNS = """
            SELECT r.*, p.done, p.total FROM carillon.run r LEFT JOIN carillon.progress p ON p.project = r.project AND p.run_id = r.id
            """;

    static final String LIVE = LIVE_COLUMNS + " WHERE r.project = :project AND r.id BETWEEN :id AND :id ORDER BY r.id";

    static final String ENDED = "SELECT * FROM carillon.run_history WHERE project = :project AND id = :id";

    static final String LIST_LIVE = LIVE_COLUMNS + """
             WHERE r.project = :project AND (:queue::text IS NULL OR r.queue = :queue) AND (:handler::text IS NULL OR r.target_name = :handler)
               AND (:state::text IS NULL OR (:state = 'running') = (r.owner IS NOT NULL))
             ORDER BY r.due_at DESC LIMIT :limit
            """;

    static final String LIST_ENDED = """
            SELECT * FROM carillon.run_history
             WHERE project = :project AND (:queue::text IS NULL OR queue = :queue) AND (:handler::text IS NULL OR target_name = :handler)
               AND (:state::text IS NULL OR state = :state)
             ORDER BY ended_at DESC LIMIT :limit
            """;

    private RunRows() {}

    static Run live(Row row) throws SQLException {
        RunState state = row.maybeUuid("owner") == null ? RunState.WAITING : RunState.RUNNING;
        Long done = row.maybeNumber("done");
        Progress progress = done == null ? null : new Progress(done, row.number("total"));
        Run.Instants instants = new Run.Instants(
                row.instant("created_at"),
                row.instant("due_at"),
                row.maybeInstant("planned_at"),
                row.maybeInstant("started_at"),
                null);
        Run.Details details = new Run.Details(
                row.maybeUuid("schedule_id"),
                parent(row),
                row.maybeText("key"),
                row.maybeText("parked"),
                null,
                null,
                null,
                progress);
        return run(row, state, instants, details);
    }

    static Run ended(Row row) throws SQLException {
        byte[] result = row.maybeBytes("result");
        Run.Instants instants = new Run.Instants(
                row.instant("created_at"),
                row.instant("due_at"),
                row.maybeInstant("planned_at"),
                row.maybeInstant("started_at"),
                row.instant("ended_at"));
        Run.Details details = new Run.Details(
                row.maybeUuid("schedule_id"),
                parent(row),
                row.maybeText("key"),
                null,
                row.maybeText("reason"),
                result == null ? null : new Payload(result, row.text("codec")),
                row.maybeText("log"),
                null);
        return run(row, RunState.of(row.text("state")), instants, details);
    }

    private static @Nullable RunId parent(Row row) throws SQLException {
        UUID parent = row.maybeUuid("parent_id");
        return parent == null ? null : new RunId(parent);
    }

    private static Run run(Row row, RunState state, Run.Instants instants, Run.Details details) throws SQLException {
        return new Run(
                AttemptRows.runId(row, "id"),
                new Lane(row.text("queue"), row.text("project")),
                state,
                Priority.of(row.integer("class")),
                Origin.of(row.text("origin")),
                new Target(row.text("target"), row.text("target_name")),
                row.integer("attempt"),
                row.integer("failures"),
                row.integer("crashes"),
                instants,
                details);
    }
}
