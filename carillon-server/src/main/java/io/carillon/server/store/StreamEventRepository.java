package io.carillon.server.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Recent events of a project: runs that ended on any node, and changes that callers made. */
public final class StreamEventRepository {
    private static final String NOW = "SELECT carillon.clock() AS now";

    /** The maximum number of events that one query returns. */
    public static final int PAGE_SIZE = 5_000;

    private static final String EVENTS_AFTER = """
            SELECT * FROM (
              (SELECT id, 'run.ended' AS what, ended_at AS at, state AS detail, queue AS place, target_name AS name FROM carillon.run_history
                WHERE project = ? AND ended_at >= ? AND (ended_at, id) > (?, ?) ORDER BY ended_at, id LIMIT ?)
              UNION ALL
              (SELECT id, action, at, NULL, NULL, object FROM carillon.audit
                WHERE project = ? AND id > ? AND at >= ? AND (at, id) > (?, ?) ORDER BY at, id LIMIT ?)) happened
             ORDER BY at, id LIMIT ?
            """;

    /**
     * An event of a project.
     *
     * @param state the state of a run that ended; null for a change
     * @param queue the queue of a run; null for a change
     * @param name the target of a run, or the changed object
     */
    public record StreamEvent(
            UUID id,
            String kind,
            Instant at,
            @Nullable String state,
            @Nullable String queue,
            String name) {}

    /** A position in the order of events: all events up to it are known. */
    public record StreamPosition(Instant at, UUID id) {
        private static final UUID FIRST_ID = new UUID(0, 0);

        /** Returns the position before all events of this instant. */
        public static StreamPosition at(Instant instant) {
            return new StreamPosition(instant, FIRST_ID);
        }
    }

    public Instant now(Connection connection) throws SQLException {
        return Sql.first(connection, NOW, row -> Sql.requiredInstant(row, "now"))
                .orElseThrow();
    }

    /**
     * Returns the events after a position, in order, at most {@link #PAGE_SIZE}. Ids of the audit log contain their
     * time, so the primary key finds the newest entries.
     */
    public List<StreamEvent> eventsAfter(Connection connection, String project, StreamPosition streamPosition)
            throws SQLException {
        // Ids of earlier versions contain the time of a server, which may differ by an hour.
        UUID low = new UUID(Math.max(0, streamPosition.at().minusSeconds(3_600).toEpochMilli()) << 16, 0);
        return Sql.list(
                connection,
                EVENTS_AFTER,
                row -> new StreamEvent(
                        row.getObject("id", UUID.class),
                        row.getString("what"),
                        Sql.requiredInstant(row, "at"),
                        row.getString("detail"),
                        row.getString("place"),
                        row.getString("name")),
                project,
                streamPosition.at(),
                streamPosition.at(),
                streamPosition.id(),
                PAGE_SIZE,
                project,
                low,
                streamPosition.at(),
                streamPosition.at(),
                streamPosition.id(),
                PAGE_SIZE,
                PAGE_SIZE);
    }
}
