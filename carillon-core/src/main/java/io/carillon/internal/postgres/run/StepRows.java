package io.carillon.internal.postgres.run;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
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
    private static final String WITHOUT_HISTORY = """
            SELECT d.id FROM carillon.dead_run d
             WHERE d.project = :project AND d.id = :id
               AND NOT EXISTS (SELECT 1 FROM carillon.run_history h WHERE h.project = d.project AND h.id = d.id)
            """;

    private static final String COLUMNS = """
            SELECT position, path, kind, codec, CASE WHEN octet_length(value) <= :shown THEN value END AS value,
                   coalesce(octet_length(value), 0) AS bytes, error, attempt, recorded_at, until
            """;

    private static final String RANGE =
            " WHERE project = :project AND run_id = :id AND position >= :from ORDER BY position LIMIT :limit";

    // The steps of an ended run are in one of the two tables: maintenance moves them in one statement. The day of the
    // run finds the partition. The record after a wait says how the wait ended: by its answer, or because the workflow
    // began to undo its steps.
    private static final String STEPS =
            """
            WITH ended AS MATERIALIZED (
              SELECT h.ended_at, h.day FROM carillon.run_history h WHERE h.project = :project AND h.id = :id LIMIT 1)
            SELECT s.*, CASE WHEN s.kind = 'timeout' OR next.kind = 'timeout' THEN 'timed_out'
                             WHEN s.kind = 'compensate' THEN s.path
                             WHEN s.error IS NOT NULL THEN 'failed'
                             WHEN s.kind LIKE 'await%' AND next.kind IN ('signal', 'run-ended') THEN 'succeeded'
                             WHEN s.kind NOT LIKE 'await%'
                              AND (s.until > coalesce(next.recorded_at, (SELECT ended_at FROM ended),
                                                      carillon.clock())) IS NOT TRUE THEN 'succeeded'
                             WHEN next.kind IS NOT NULL OR EXISTS (SELECT 1 FROM ended) THEN 'cancelled'
                             ELSE 'waiting' END AS state
              FROM ((""" + COLUMNS + " FROM carillon.workflow_step" + RANGE + ") UNION ALL (" + COLUMNS + """
             FROM carillon.workflow_step_history
             WHERE project = :project AND run_id = :id AND position >= :from AND day = (SELECT day FROM ended)
             ORDER BY position LIMIT :limit)) s
              LEFT JOIN LATERAL (
                SELECT l.kind, l.recorded_at FROM carillon.workflow_step l
                 WHERE l.project = :project AND l.run_id = :id AND l.position = s.position + 1
                   AND (s.until IS NOT NULL OR s.kind = 'await-run')
                UNION ALL
                SELECT h.kind, h.recorded_at FROM carillon.workflow_step_history h
                 WHERE h.project = :project AND h.run_id = :id AND h.position = s.position + 1
                   AND h.day = (SELECT day FROM ended) AND (s.until IS NOT NULL OR s.kind = 'await-run')
                LIMIT 1) next ON true
             ORDER BY s.position LIMIT :limit
            """;

    private StepRows() {}

    /**
     * Returns the parts of a statement that copy the records of the workflows in {@code deleted} to their new runs. The
     * last record decides where the copy ends: before a step that failed, and before a wait that has no answer or whose
     * run failed. If it is of a step that was executed in parallel to others, those of them that failed are left out
     * too, wherever their positions are. If steps were undone, none is copied. The failures of the new run are counted
     * from 0.
     */
    static String copyOfDead() {
        return """
                steps AS (
                  SELECT s.* FROM deleted
                    CROSS JOIN LATERAL (
                      SELECT l.position, l.path, l.kind, l.owner, l.attempt, l.codec, l.value, l.error, l.until,
                             l.recorded_at, l.reserved
                        FROM carillon.workflow_step l WHERE l.project = deleted.project AND l.run_id = deleted.id
                      UNION ALL
                      SELECT h.position, h.path, h.kind, h.owner, h.attempt, h.codec, h.value, h.error, h.until,
                             h.recorded_at, h.reserved
                        FROM carillon.workflow_step_history h
                       WHERE h.project = deleted.project AND h.run_id = deleted.id) s
                   WHERE :keepSteps),
                failed AS (
                  SELECT CASE WHEN s.kind = 'run-ended' AND s.error IS NOT NULL THEN s.position - 1
                              WHEN s.error IS NOT NULL OR s.kind IN ('await', 'await-run') THEN s.position
                              ELSE s.position + 1 END AS position
                    FROM steps s
                   WHERE NOT EXISTS (SELECT 1 FROM steps u WHERE u.kind = 'compensate')
                   ORDER BY s.position DESC LIMIT 1),
                parallel AS (
                  SELECT e.position FROM steps e
                   WHERE e.position + e.reserved >= (SELECT max(s.position) FROM steps s)),
                copied AS (
                  INSERT INTO carillon.workflow_step (project, run_id, position, path, kind, owner, attempt, failures,
                    codec, value, error, until, recorded_at, reserved)
                  SELECT deleted.project, deleted.new_id, s.position, s.path, s.kind, s.owner, s.attempt, 0, s.codec,
                         s.value, s.error, s.until, s.recorded_at, s.reserved
                    FROM deleted, steps s, failed
                   WHERE s.position < failed.position
                     AND (s.error IS NULL OR s.position < coalesce((SELECT position FROM parallel), failed.position)))
                """;
    }

    /** Rejects a dead run whose records have left the history with it: dead runs are kept longer. */
    static void requireHistory(Session session, String project, RunId run) throws SQLException {
        if (session.query(WITHOUT_HISTORY)
                .text("project", project)
                .uuid("id", run.value())
                .first(row -> row)
                .isPresent())
            throw new CarillonException(
                    ErrorCode.HISTORY_DROPPED,
                    ("Run %s ended so long ago that the records of its steps have left the history. It cannot "
                                    + "continue where it failed. Redrive it to begin with the first step.")
                            .formatted(run));
    }

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
        int hash = path.indexOf('#');
        boolean repeatedAwait = bracket < 0 && hash >= 0;
        int nameEnd = repeatedAwait ? hash : bracket;
        byte @Nullable [] value = row.maybeBytes("value");
        return new RecordedStep(
                row.integer("position"),
                nameEnd < 0 ? path : path.substring(0, nameEnd),
                nameEnd < 0 ? null : path.substring(nameEnd + 1, path.length() - (repeatedAwait ? 0 : 1)),
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
