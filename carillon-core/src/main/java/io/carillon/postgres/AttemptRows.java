package io.carillon.postgres;

import io.carillon.run.Attempt;
import io.carillon.run.Lane;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import java.sql.SQLException;
import java.util.UUID;

/** Reads claimed rows. */
final class AttemptRows {
    static final String COLUMNS = """
            ctid, project, id, queue, class, suspect, crashes, attempt, failures, due_at, ready_at, planned_at, schedule_id,
            origin, target, target_name, codec, payload, trace, gate_key
            """;

    private AttemptRows() {}

    static Attempt read(Row row) throws SQLException {
        UUID schedule = row.maybeUuid("schedule_id");
        String trace = row.maybeText("trace");
        String gate = row.maybeText("gate_key");
        return new Attempt(
                runId(row, "id"),
                row.integer("attempt"),
                new Lane(row.text("queue"), row.text("project")),
                Priority.of(row.integer("class")),
                Origin.of(row.text("origin")),
                new Target(row.text("target"), row.text("target_name")),
                new Payload(row.bytes("payload"), row.text("codec")),
                new Attempt.Times(row.maybeInstant("planned_at"), row.instant("due_at")),
                new Attempt.Counts(row.integer("failures"), row.integer("suspect"), row.integer("crashes")),
                schedule == null && trace == null && gate == null ? null : new Attempt.Link(schedule, trace, gate),
                row.text("ctid"));
    }

    static RunId runId(Row row, String column) throws SQLException {
        return new RunId(row.uuid(column));
    }
}
