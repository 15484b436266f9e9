package io.carillon.internal.postgres.run;

import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
import io.carillon.workflow.RecordedStep;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The records of workflows as users see them: of runs that live, and of ended runs. */
final class StepRows {
    private static final String COLUMNS = """
            SELECT position, path, kind, codec, CASE WHEN octet_length(value) <= :shown THEN value END AS value,
                   coalesce(octet_length(value), 0) AS bytes, error, attempt, recorded_at, until
            """;

    private static final String RANGE =
            " WHERE project = :project AND run_id = :id AND position >= :from ORDER BY position LIMIT :limit";

    // The steps of an ended run are in one of the two tables: maintenance moves them in one statement. The day of the
    // run finds the partition. A record of the kind 'await…' says that the workflow waits; a later record answers it.
    private static final String STEPS =
            """
            WITH ended AS MATERIALIZED (
              SELECT h.ended_at, h.day FROM carillon.run_history h WHERE h.project = :project AND h.id = :id LIMIT 1),
            last AS MATERIALIZED (
              SELECT greatest((SELECT max(position) FROM carillon.workflow_step
                                WHERE project = :project AND run_id = :id),
                              (SELECT max(position) FROM carillon.workflow_step_history
                                WHERE project = :project AND run_id = :id AND day = (SELECT day FROM ended)))
                     AS position)
            SELECT s.*, CASE WHEN s.error IS NOT NULL THEN 'failed'
                             WHEN s.kind LIKE 'await%' AND s.position < (SELECT position FROM last) THEN 'succeeded'
                             WHEN s.kind NOT LIKE 'await%' AND (s.until > coalesce((SELECT ended_at FROM ended),
                                                                  carillon.clock())) IS NOT TRUE THEN 'succeeded'
                             WHEN EXISTS (SELECT 1 FROM ended) THEN 'cancelled' ELSE 'waiting' END AS state
              FROM ((""" + COLUMNS + " FROM carillon.workflow_step" + RANGE + ") UNION ALL (" + COLUMNS + """
             FROM carillon.workflow_step_history
             WHERE project = :project AND run_id = :id AND position >= :from AND day = (SELECT day FROM ended)
             ORDER BY position LIMIT :limit)) s
             ORDER BY s.position LIMIT :limit
            """;

    private StepRows() {}

    static List<RecordedStep> list(Session session, String project, RunId run, int from, int limit)
            throws SQLException {
        return read(session, project, run, from, limit, RecordedStep.MAX_SHOWN_BYTES);
    }

    static Optional<RecordedStep> one(Session session, String project, RunId run, int position) throws SQLException {
        return read(session, project, run, position, 1, Integer.MAX_VALUE).stream()
                .filter(step -> step.position() == position)
                .findFirst();
    }

    private static List<RecordedStep> read(
            Session session, String project, RunId run, int from, int limit, int shownBytes) throws SQLException {
        return session.query(STEPS)
                .text("project", project)
                .uuid("id", run.value())
                .number("from", from)
                .number("limit", limit)
                .number("shown", shownBytes)
                .list(StepRows::read);
    }

    private static RecordedStep read(Row row) throws SQLException {
        String path = row.text("path");
        int bracket = path.indexOf('[');
        byte @Nullable [] value = row.maybeBytes("value");
        return new RecordedStep(
                row.integer("position"),
                bracket < 0 ? path : path.substring(0, bracket),
                bracket < 0 ? null : path.substring(bracket + 1, path.length() - 1),
                row.text("kind"),
                RecordedStep.State.valueOf(row.text("state").toUpperCase(Locale.ROOT)),
                value == null ? null : new Payload(value, row.text("codec")),
                row.integer("bytes"),
                row.maybeText("error"),
                row.integer("attempt"),
                row.instant("recorded_at"),
                row.maybeInstant("until"));
    }
}
