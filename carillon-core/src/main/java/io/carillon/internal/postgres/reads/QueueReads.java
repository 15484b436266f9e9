package io.carillon.internal.postgres.reads;

import io.carillon.QueueInfo;
import io.carillon.internal.jdbc.Session;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Queries about the runs and schedules of one queue that the server needs and the API does not offer. */
public final class QueueReads {
    private static final String COUNT_LIVE_RUNS = "SELECT carillon.count_live_runs(:project, :queue, :limit) AS runs";

    private static final String SCHEDULES =
            "SELECT name FROM carillon.schedule WHERE project = :project AND queue = :queue ORDER BY name LIMIT :limit";

    private static final String PAUSES = """
            SELECT queue, paused_at, paused_by, paused_reason FROM carillon.lane
             WHERE project = :project AND queue = ANY (:queues::text[]) AND paused_at IS NOT NULL
            """;

    private static final String COUNT_SETTINGS = """
            SELECT count(*) AS queues
              FROM (SELECT 1 FROM carillon.lane WHERE project = :project LIMIT :limit) few
            """;

    private QueueReads() {}

    /** Returns the number of queues of a project that have or had settings, counted up to {@code atMost}. */
    public static long countSettings(Session session, String project, long atMost) throws SQLException {
        return session.query(COUNT_SETTINGS)
                .text("project", project)
                .number("limit", atMost)
                .first(row -> row.number("queues"))
                .orElseThrow();
    }

    /** Returns the pauses of those of these queues that are paused, by queue. */
    public static Map<String, QueueInfo.Pause> pauses(Session session, String project, Collection<String> queues)
            throws SQLException {
        Map<String, QueueInfo.Pause> pauses = new HashMap<>();
        session.query(PAUSES)
                .text("project", project)
                .texts("queues", queues)
                .list(row -> pauses.put(
                        row.text("queue"),
                        new QueueInfo.Pause(
                                row.instant("paused_at"), row.maybeText("paused_by"), row.maybeText("paused_reason"))));
        return pauses;
    }

    /** Returns the number of waiting and running runs of a queue, counted up to {@code atMost}. */
    public static long countLiveRuns(Session session, String project, String queue, long atMost) throws SQLException {
        return session.query(COUNT_LIVE_RUNS)
                .text("project", project)
                .text("queue", queue)
                .number("limit", atMost)
                .first(row -> row.number("runs"))
                .orElseThrow();
    }

    /** Returns the names of the schedules whose runs use a queue, in order, at most {@code limit}. */
    public static List<String> schedules(Session session, String project, String queue, int limit) throws SQLException {
        return session.query(SCHEDULES)
                .text("project", project)
                .text("queue", queue)
                .number("limit", limit)
                .list(row -> row.text("name"));
    }
}
