package io.carillon.server.store;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The secrets that webhooks name, as they are kept: sealed. Opening them is not its business. */
public final class SecretRepository {
    private static final String COLUMNS = """
            SELECT project, name, kind, sealed, created_at, created_by, rotated_at,
                   CASE WHEN previous_until > carillon.clock() THEN previous END AS previous,
                   CASE WHEN previous_until > carillon.clock() THEN previous_until END AS previous_until
              FROM carillon.webhook_secret
            """;

    private static final String GET = COLUMNS + "WHERE project = ? AND name = ?";

    private static final String LIST = COLUMNS + "WHERE project = ? AND name > ? ORDER BY name LIMIT ?";

    private static final String ALL = COLUMNS + "WHERE (project, name) > (?, ?) ORDER BY project, name LIMIT ?";

    private static final String INSERT = """
            INSERT INTO carillon.webhook_secret (project, name, kind, sealed, created_by) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (project, name) DO NOTHING
            """;

    private static final String ROTATE = """
            UPDATE carillon.webhook_secret
               SET previous = sealed, previous_until = carillon.clock() + make_interval(secs => ?), sealed = ?, rotated_at = carillon.clock()
             WHERE project = ? AND name = ?
            """;

    private static final String DELETE = "DELETE FROM carillon.webhook_secret WHERE project = ? AND name = ?";

    // A rotation meanwhile changed what is sealed: its word holds, and it sealed with the current key anyway.
    private static final String RESEAL = """
            UPDATE carillon.webhook_secret SET sealed = ?, previous = ? WHERE project = ? AND name = ? AND sealed = ?
            """;

    private final Transactions transactions;

    public SecretRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** A secret; {@code previous} is the one before it, for as long as that signs as well. */
    public record Kept(
            String project,
            String name,
            boolean signing,
            String sealed,
            @Nullable String previous,
            @Nullable Instant previousUntil,
            ApiKey.Made made,
            @Nullable Instant rotatedAt) {}

    /** Outside the wall, for whoever executes the runs of all projects. */
    public Optional<Kept> find(String project, String name) {
        return transactions.single(connection -> get(connection, project, name));
    }

    public Optional<Kept> get(Connection connection, String project, String name) throws SQLException {
        return Sql.first(connection, GET, SecretRepository::read, project, name);
    }

    public List<Kept> list(Connection connection, String project, String after, int limit) throws SQLException {
        return Sql.list(connection, LIST, SecretRepository::read, project, after, limit);
    }

    /** Those of all projects behind this one, outside the wall. */
    public List<Kept> all(String project, String name, int limit) {
        return transactions.single(
                connection -> Sql.list(connection, ALL, SecretRepository::read, project, name, limit));
    }

    /** False: there is one of this name. */
    public boolean insert(Connection connection, Kept secret) throws SQLException {
        String kind = secret.signing() ? "signing" : "value";
        return Sql.update(
                        connection,
                        INSERT,
                        secret.project(),
                        secret.name(),
                        kind,
                        secret.sealed(),
                        secret.made().by())
                == 1;
    }

    /** The one before goes on for so many seconds. */
    public boolean rotate(Connection connection, String project, String name, String sealed, double overlap)
            throws SQLException {
        return Sql.update(connection, ROTATE, overlap, sealed, project, name) == 1;
    }

    public boolean delete(Connection connection, String project, String name) throws SQLException {
        return Sql.update(connection, DELETE, project, name) == 1;
    }

    /** Puts the same contents under another seal, unless they were changed since. */
    public boolean reseal(Kept before, String sealed, @Nullable String previous) {
        return transactions.single(connection ->
                Sql.update(connection, RESEAL, sealed, previous, before.project(), before.name(), before.sealed())
                        == 1);
    }

    private static Kept read(ResultSet row) throws SQLException {
        return new Kept(
                row.getString("project"),
                row.getString("name"),
                row.getString("kind").equals("signing"),
                row.getString("sealed"),
                row.getString("previous"),
                Sql.instant(row, "previous_until"),
                new ApiKey.Made(Sql.instantThere(row, "created_at"), row.getString("created_by")),
                Sql.instant(row, "rotated_at"));
    }
}
