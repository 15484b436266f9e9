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

    private static final String HAPPENED = """
            (SELECT id, 'run.ended' AS what, ended_at AS at, state AS detail, queue AS place, target_name AS name FROM carillon.run_history
              WHERE project = ? AND ended_at > ? ORDER BY ended_at LIMIT 500)
            UNION ALL
            (SELECT id, action, at, NULL, NULL, object FROM carillon.audit
              WHERE project = ? AND id > ? AND at > ? ORDER BY id LIMIT 500)
            ORDER BY at
            """;

    /** Something that happened. */
    public record Happening(
            UUID id,
            String what,
            Instant at,
            @Nullable String state,
            @Nullable String queue,
            String name) {}

    public Instant now(Connection connection) throws SQLException {
        return Sql.first(connection, NOW, row -> Sql.instantThere(row, "now")).orElseThrow();
    }

    /** What happened after this instant, in order. Ids of the audit log carry their time, so that its end is found by its key. */
    public List<Happening> since(Connection connection, String project, Instant since) throws SQLException {
        // Ids that versions before made carry the time of a server, which may be an hour off.
        UUID low = new UUID(Math.max(0, since.minusSeconds(3_600).toEpochMilli()) << 16, 0);
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
                since,
                project,
                low,
                since);
    }
}
