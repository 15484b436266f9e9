package io.carillon.internal.postgres.reads;

import io.carillon.internal.jdbc.Session;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Queries about schedules and runs that the server needs and the API does not offer. They change nothing. */
public final class ServerReads {
    private static final String COUNT_SCHEDULES = """
            SELECT count(*) AS schedules
              FROM (SELECT 1 FROM carillon.schedule WHERE project = :project LIMIT :limit) few
            """;

    // The size of a payload is known without reading it.
    private static final String COUNT_WITHIN = """
            SELECT count(*) AS schedules
              FROM (SELECT sum(s.bytes) OVER (ORDER BY s.name) - s.bytes AS bytes_before
                      FROM (SELECT name, coalesce(octet_length(payload), 0) AS bytes FROM carillon.schedule
                             WHERE project = :project AND name > :after ORDER BY name LIMIT :limit) s) sized
             WHERE bytes_before < :bytes
            """;

    private static final String COUNT_LIVE_RUNS = "SELECT carillon.count_live_runs(:project, null, :limit) AS runs";

    private static final String ACTIVE_SCHEDULE = """
            SELECT s.name FROM carillon.run r JOIN carillon.schedule s ON s.project = r.project AND s.id = r.schedule_id
             WHERE r.project = :project AND r.id BETWEEN :id AND :id AND s.paused_at IS NULL ORDER BY r.id LIMIT 1
            """;

    // The run is live, dead or in the history.
    private static final String PAYLOAD = """
            SELECT payload FROM carillon.run
             WHERE project = :project AND id BETWEEN :id AND :id AND target_name = :target
            UNION ALL
            SELECT payload FROM carillon.dead_run WHERE project = :project AND id = :id AND target_name = :target
            UNION ALL
            SELECT payload FROM carillon.run_history
             WHERE project = :project AND id = :id AND target_name = :target AND payload IS NOT NULL
            """;

    private static final String PROJECT_AWAITING =
            "SELECT project FROM carillon.open_attempt WHERE run_id = :id AND callback_token_hash = :digest";

    private static final String ENDED_AFTER = """
            SELECT id, ended_at, state, queue, target_name FROM carillon.run_history
             WHERE project = :project AND ended_at >= :at AND (ended_at, id) > (:at, :id)
             ORDER BY ended_at, id LIMIT :limit
            """;

    private static final String PROJECTS_WITH_ENDED_RUNS = """
            SELECT DISTINCT project FROM carillon.run_history
             WHERE ended_at >= carillon.clock() - make_interval(secs => :age) AND project = ANY (:projects::text[])
            """;

    private ServerReads() {}

    /** A run that ended. */
    public record EndedRun(UUID id, Instant endedAt, String state, String queue, String targetName) {}

    /** Returns the number of schedules, counted up to {@code atMost}. */
    public static long countSchedules(Session session, String project, long atMost) throws SQLException {
        return session.query(COUNT_SCHEDULES)
                .text("project", project)
                .number("limit", atMost)
                .first(row -> row.number("schedules"))
                .orElseThrow();
    }

    /**
     * Returns how many of the next {@code limit} schedules after this name have payloads of {@code bytes} together; the
     * last one of them may exceed that. Names are in the order of their bytes.
     */
    public static int countSchedulesWithin(Session session, String project, String after, int limit, long bytes)
            throws SQLException {
        return session.query(COUNT_WITHIN)
                .text("project", project)
                .text("after", after)
                .number("limit", limit)
                .number("bytes", bytes)
                .first(row -> row.integer("schedules"))
                .orElseThrow();
    }

    /** Returns the number of waiting and running runs, counted up to {@code atMost}. */
    public static long countLiveRuns(Session session, String project, long atMost) throws SQLException {
        return session.query(COUNT_LIVE_RUNS)
                .text("project", project)
                .number("limit", atMost)
                .first(row -> row.number("runs"))
                .orElseThrow();
    }

    /**
     * Returns the name of the schedule of a waiting or running run; empty if it has none or the schedule is paused.
     */
    public static Optional<String> activeSchedule(Session session, String project, UUID run) throws SQLException {
        return session.query(ACTIVE_SCHEDULE)
                .text("project", project)
                .uuid("id", run)
                .first(row -> row.text("name"));
    }

    /** Returns the payload of a run with this target; empty if it is no longer kept. */
    public static Optional<byte[]> payload(Session session, String project, UUID run, String targetName)
            throws SQLException {
        return session.query(PAYLOAD)
                .text("project", project)
                .uuid("id", run)
                .text("target", targetName)
                .first(row -> row.bytes("payload"));
    }

    /** Returns the project of the run that waits for a callback whose token has this digest. */
    public static Optional<String> projectAwaiting(Session session, UUID run, String digest) throws SQLException {
        return session.query(PROJECT_AWAITING)
                .uuid("id", run)
                .text("digest", digest)
                .first(row -> row.text("project"));
    }

    /** Returns which of these projects have runs that ended in the last period of this length. */
    public static Set<String> projectsWithEndedRuns(Session session, Collection<String> projects, Duration period)
            throws SQLException {
        return new HashSet<>(session.query(PROJECTS_WITH_ENDED_RUNS)
                .seconds("age", period)
                .texts("projects", projects)
                .list(row -> row.text("project")));
    }

    /** Returns the runs that ended after this instant, or at it with a larger id, in the order of instant and id. */
    public static List<EndedRun> endedAfter(Session session, String project, Instant at, UUID id, int limit)
            throws SQLException {
        return session.query(ENDED_AFTER)
                .text("project", project)
                .instant("at", at)
                .uuid("id", id)
                .number("limit", limit)
                .list(row -> new EndedRun(
                        row.uuid("id"),
                        row.instant("ended_at"),
                        row.text("state"),
                        row.text("queue"),
                        row.text("target_name")));
    }
}
