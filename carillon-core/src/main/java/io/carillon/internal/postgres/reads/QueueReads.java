package io.carillon.internal.postgres.reads;

import io.carillon.internal.jdbc.Session;
import java.sql.SQLException;
import java.util.List;

/** Queries about the runs and schedules of one queue that the server needs and the API does not offer. */
public final class QueueReads {
    private static final String COUNT_LIVE_RUNS = """
            SELECT count(*) AS runs
              FROM (SELECT 1 FROM carillon.run WHERE queue = :queue AND project = :project LIMIT :limit) few
            """;

    private static final String SCHEDULES =
            "SELECT name FROM carillon.schedule WHERE project = :project AND queue = :queue ORDER BY name";

    private QueueReads() {}

    /** Returns the number of waiting and running runs of a queue, counted up to {@code atMost}. */
    public static long countLiveRuns(Session session, String project, String queue, long atMost) throws SQLException {
        return session.query(COUNT_LIVE_RUNS)
                .text("project", project)
                .text("queue", queue)
                .number("limit", atMost)
                .first(row -> row.number("runs"))
                .orElseThrow();
    }

    /** Returns the names of the schedules whose runs use a queue, in order. */
    public static List<String> schedules(Session session, String project, String queue) throws SQLException {
        return session.query(SCHEDULES)
                .text("project", project)
                .text("queue", queue)
                .list(row -> row.text("name"));
    }
}
