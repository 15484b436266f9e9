package io.carillon.internal.postgres.reads;

import io.carillon.event.EventPattern;
import io.carillon.internal.jdbc.Session;
import java.sql.SQLException;
import java.util.List;

/** Queries about subscriptions that the server needs and the API does not offer. */
public final class EventReads {
    private static final String COUNT_SUBSCRIPTIONS = """
            SELECT count(*) AS subscriptions
              FROM (SELECT 1 FROM carillon.event_subscription WHERE project = :project LIMIT :limit) few
            """;

    private static final String ACTIVE_PATTERNS = """
            SELECT topic_pattern, type_pattern FROM carillon.event_subscription
             WHERE project = :project AND paused_at IS NULL LIMIT :limit
            """;

    private static final String OF_ENDPOINT = """
            SELECT name FROM carillon.event_subscription
             WHERE project = :project AND endpoint = :endpoint ORDER BY name LIMIT :limit
            """;

    private static final String COUNT_REPLAYS = """
            SELECT count(*) AS replays
              FROM (SELECT 1 FROM carillon.event_cursor WHERE project = :project AND replay > 0 LIMIT :limit) few
            """;

    private EventReads() {}

    /** Returns the number of replays of a project that are in progress, counted up to {@code atMost}. */
    public static long countReplays(Session session, String project, long atMost) throws SQLException {
        return session.query(COUNT_REPLAYS)
                .text("project", project)
                .number("limit", atMost)
                .first(row -> row.number("replays"))
                .orElseThrow();
    }

    /** Returns the names of the subscriptions that send events to an endpoint, in order, at most {@code limit}. */
    public static List<String> subscriptionsOfEndpoint(Session session, String project, String endpoint, int limit)
            throws SQLException {
        return session.query(OF_ENDPOINT)
                .text("project", project)
                .text("endpoint", endpoint)
                .number("limit", limit)
                .list(row -> row.text("name"));
    }

    /** Returns the number of subscriptions of a project, counted up to {@code atMost}. */
    public static long countSubscriptions(Session session, String project, long atMost) throws SQLException {
        return session.query(COUNT_SUBSCRIPTIONS)
                .text("project", project)
                .number("limit", atMost)
                .first(row -> row.number("subscriptions"))
                .orElseThrow();
    }

    /** Returns the patterns of the subscriptions of a project that are not paused, at most {@code limit}. */
    public static List<EventPattern> activePatterns(Session session, String project, int limit) throws SQLException {
        return session.query(ACTIVE_PATTERNS)
                .text("project", project)
                .number("limit", limit)
                .list(row -> EventPattern.of(
                        row.text("topic_pattern"), row.text("type_pattern").split(",")));
    }
}
