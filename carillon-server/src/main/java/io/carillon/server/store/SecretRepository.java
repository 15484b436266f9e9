package io.carillon.server.store;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The encrypted secrets of webhooks. This class does not decrypt them. */
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

    // If a rotation has replaced the secret meanwhile, this changes nothing: the rotation encrypted with the current
    // key.
    private static final String RESEAL = """
            UPDATE carillon.webhook_secret SET sealed = ?, previous = ? WHERE project = ? AND name = ? AND sealed = ?
            """;

    private final Transactions transactions;

    public SecretRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /**
     * A stored secret.
     *
     * @param signing whether it signs webhooks; otherwise it is the value of a header
     * @param sealed the encrypted secret
     * @param previous the encrypted previous secret while it also signs; null otherwise
     * @param rotatedAt null if it was never rotated
     */
    public record StoredSecret(
            String project,
            String name,
            boolean signing,
            String sealed,
            @Nullable String previous,
            @Nullable Instant previousUntil,
            ApiKey.Creation creation,
            @Nullable Instant rotatedAt) {}

    /** Returns a secret, without row-level security: a node executes the runs of all projects. */
    public Optional<StoredSecret> find(String project, String name) {
        return transactions.runStatementAsServer(connection -> get(connection, project, name));
    }

    public Optional<StoredSecret> get(Connection connection, String project, String name) throws SQLException {
        return Sql.first(connection, GET, SecretRepository::read, project, name);
    }

    public List<StoredSecret> list(Connection connection, String project, String after, int limit) throws SQLException {
        return Sql.list(connection, LIST, SecretRepository::read, project, after, limit);
    }

    /** Returns secrets of all projects from after this project and name, without row-level security. */
    public List<StoredSecret> listAllProjects(String project, String name, int limit) {
        return transactions.runStatementAsServer(
                connection -> Sql.list(connection, ALL, SecretRepository::read, project, name, limit));
    }

    /** Stores a secret. Returns false if the name is taken. */
    public boolean insert(Connection connection, StoredSecret secret) throws SQLException {
        String kind = secret.signing() ? "signing" : "value";
        return Sql.update(
                        connection,
                        INSERT,
                        secret.project(),
                        secret.name(),
                        kind,
                        secret.sealed(),
                        secret.creation().by())
                == 1;
    }

    /** Replaces a secret; the previous one remains valid for {@code overlap} seconds. */
    public boolean rotate(Connection connection, String project, String name, String sealed, double overlap)
            throws SQLException {
        return Sql.update(connection, ROTATE, overlap, sealed, project, name) == 1;
    }

    public boolean delete(Connection connection, String project, String name) throws SQLException {
        return Sql.update(connection, DELETE, project, name) == 1;
    }

    /** Stores the same secret under another encryption. Returns false if the secret was changed since it was read. */
    public boolean reseal(StoredSecret before, String sealed, @Nullable String previous) {
        return transactions.runStatementAsServer(connection ->
                Sql.update(connection, RESEAL, sealed, previous, before.project(), before.name(), before.sealed())
                        == 1);
    }

    private static StoredSecret read(ResultSet row) throws SQLException {
        return new StoredSecret(
                row.getString("project"),
                row.getString("name"),
                row.getString("kind").equals("signing"),
                row.getString("sealed"),
                row.getString("previous"),
                Sql.instant(row, "previous_until"),
                new ApiKey.Creation(Sql.requiredInstant(row, "created_at"), row.getString("created_by")),
                Sql.instant(row, "rotated_at"));
    }
}
