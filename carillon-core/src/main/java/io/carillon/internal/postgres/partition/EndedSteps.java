package io.carillon.internal.postgres.partition;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Row;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Moves the records of workflows that have ended to the history, so that they are kept as long as the run is. */
final class EndedSteps {
    /** How many records one statement reads. */
    private static final int PART = 5_000;

    /** About how many bytes one statement moves. A workflow has at most 16 MiB. */
    private static final long MAX_BYTES = 32 << 20;

    // The runs of the next records. Those of runs that live are read too, so the part is bounded.
    private static final String RUNS_OF_PART = """
            SELECT part.*, r.id IS NULL AS ended
              FROM (SELECT s.project, s.run_id, count(*) AS steps, coalesce(sum(s.bytes), 0) AS bytes
                      FROM (SELECT project, run_id, octet_length(value) AS bytes FROM carillon.workflow_step
                             WHERE (project, run_id) > (:project, :run)
                             ORDER BY project, run_id, position LIMIT :part) s
                     GROUP BY s.project, s.run_id) part
              LEFT JOIN LATERAL (SELECT l.id FROM carillon.run l
                                  WHERE l.project = part.project AND l.id BETWEEN part.run_id AND part.run_id
                                  ORDER BY l.id LIMIT 1) r ON true
             ORDER BY part.project, part.run_id
            """;

    // One statement deletes and inserts, so a crash loses nothing. Retention may have removed the history of the run
    // already; then its records are only deleted.
    private static final String MOVE = """
            WITH ended AS MATERIALIZED (
              SELECT e.project, e.id, (SELECT h.day FROM carillon.run_history h
                                        WHERE h.project = e.project AND h.id = e.id LIMIT 1) AS day
                FROM unnest(:projects::text[], :runs::uuid[]) AS e(project, id)
               WHERE NOT EXISTS (SELECT 1 FROM carillon.run r
                                  WHERE r.project = e.project AND r.id BETWEEN e.id AND e.id)),
            held AS MATERIALIZED (
              SELECT s.project, s.run_id, s.position, ended.day
                FROM ended JOIN carillon.workflow_step s ON s.project = ended.project AND s.run_id = ended.id
                 FOR UPDATE OF s SKIP LOCKED),
            removed AS (
              DELETE FROM carillon.workflow_step s USING held
               WHERE s.project = held.project AND s.run_id = held.run_id AND s.position = held.position
              RETURNING s.*, held.day),
            kept AS (
              INSERT INTO carillon.workflow_step_history SELECT * FROM removed WHERE day IS NOT NULL
              ON CONFLICT DO NOTHING)
            SELECT count(*) AS removed FROM removed
            """;

    private final Database database;
    private final Partitions partitions;

    EndedSteps(Database database, Partitions partitions) {
        this.database = database;
        this.partitions = partitions;
    }

    private record RunOfSteps(String project, UUID run, int steps, long bytes, boolean ended) {
        static RunOfSteps read(Row row) throws SQLException {
            return new RunOfSteps(
                    row.text("project"),
                    row.uuid("run_id"),
                    row.integer("steps"),
                    row.number("bytes"),
                    row.flag("ended"));
        }
    }

    /** Moves the records of all runs that have ended, and returns their number. */
    int move() {
        RunOfSteps last = new RunOfSteps("", new UUID(0, 0), 0, 0, false);
        int moved = 0;
        while (true) {
            List<RunOfSteps> part = part(last);
            moved += moveEnded(part);
            int read = part.stream().mapToInt(RunOfSteps::steps).sum();
            if (read < PART || Thread.currentThread().isInterrupted()) return moved;
            last = part.get(part.size() - 1);
        }
    }

    private List<RunOfSteps> part(RunOfSteps last) {
        return database.single(session -> session.query(RUNS_OF_PART)
                .text("project", last.project)
                .uuid("run", last.run)
                .number("part", PART)
                .list(RunOfSteps::read));
    }

    private int moveEnded(List<RunOfSteps> part) {
        int moved = 0;
        long bytes = 0;
        List<RunOfSteps> batch = new ArrayList<>();
        for (RunOfSteps run : part) {
            if (!run.ended) continue;
            batch.add(run);
            bytes += run.bytes;
            if (bytes < MAX_BYTES) continue;
            moved += move(batch);
            batch.clear();
            bytes = 0;
        }
        return batch.isEmpty() ? moved : moved + move(batch);
    }

    private int move(List<RunOfSteps> ended) {
        return partitions.creatingMissing(() -> database.single(session -> session.query(MOVE)
                .texts("projects", ended.stream().map(RunOfSteps::project).toList())
                .uuids("runs", ended.stream().map(RunOfSteps::run).toList())
                .first(row -> row.integer("removed"))
                .orElse(0)));
    }
}
