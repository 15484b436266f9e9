package io.carillon.server.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What happened in a project lately: runs that ended on any node, and changes that somebody asked for. */
public final class FeedRepository {
    private static final String NOW = "SELECT carillon.clock() AS now";

    /** How many one question returns at most. */
    public static final int PAGE = 5_000;

    private static final String HAPPENED = """
            SELECT * FROM (
              (SELECT id, 'run.ended' AS what, ended_at AS at, state AS detail, queue AS place, target_name AS name FROM carillon.run_history
                WHERE project = ? AND ended_at >= ? AND (ended_at, id) > (?, ?) ORDER BY ended_at, id LIMIT ?)
              UNION ALL
              (SELECT id, action, at, NULL, NULL, object FROM carillon.audit
                WHERE project = ? AND id > ? AND at >= ? AND (at, id) > (?, ?) ORDER BY at, id LIMIT ?)) happened
             ORDER BY at, id LIMIT ?
            """;

    /** Something that happened. */
    public record Happening(
            UUID id,
            String what,
            Instant at,
            @Nullable String state,
            @Nullable String queue,
            String name) {}

    /** A place in the order of what happened: everything up to it is known. */
    public record Place(Instant at, UUID id) {
        private static final UUID FIRST = new UUID(0, 0);

        /** Before all that happened at this instant. */
        public static Place at(Instant instant) {
            return new Place(instant, FIRST);
        }
    }

    public Instant now(Connection connection) throws SQLException {
        return Sql.first(connection, NOW, row -> Sql.instantThere(row, "now")).orElseThrow();
    }

    /** Returns what happened behind this place, in order, up to {@link #PAGE}. Ids of the audit log carry their time, so that its end is found by its key. */
    public List<Happening> behind(Connection connection, String project, Place place) throws SQLException {
        // Ids that versions before made carry the time of a server, which may be an hour off.
        UUID low = new UUID(Math.max(0, place.at().minusSeconds(3_600).toEpochMilli()) << 16, 0);
        return Sql.list(
                connection,
                HAPPENED,
                row -> new Happening(
                        row.getObject("id", UUID.class),
                        row.getString("what"),
                        Sql.instantThere(row, "at"),
                        row.getString("detail"),
                        row.getString("place"),
                        row.getString("name")),
                project,
                place.at(),
                place.at(),
                place.id(),
                PAGE,
                project,
                low,
                place.at(),
                place.at(),
                place.id(),
                PAGE,
                PAGE);
    }
}
