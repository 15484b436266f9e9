package io.carillon.server.store;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The API keys of projects. The authenticator compares the hash of a secret, in constant time. */
public final class ApiKeyRepository {
    // Searches by the unique id alone: the project is known only after the key was found.
    private static final String FIND_VALID = """
            SELECT k.project, k.hash, k.scopes, k.used_at IS NULL OR k.used_at < carillon.clock() - interval '1 minute' AS stale,
                   p.requests_per_second
              FROM carillon.api_key k JOIN carillon.project p USING (project)
             WHERE k.id = ? AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > carillon.clock())
            """;

    private static final String MARK_USED = """
            UPDATE carillon.api_key SET used_at = carillon.clock()
             WHERE id = ? AND (used_at IS NULL OR used_at < carillon.clock() - interval '1 minute')
            """;

    private static final String INSERT = """
            INSERT INTO carillon.api_key (project, id, hash, name, scopes, bootstrap, created_by, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?::timestamptz)
            """;

    private static final String INSERT_BOOTSTRAP = """
            INSERT INTO carillon.api_key (project, id, hash, name, scopes, bootstrap, created_by)
            SELECT 'default', ?, ?, 'bootstrap', ARRAY['admin'], true, 'first start' WHERE NOT EXISTS (SELECT 1 FROM carillon.api_key)
            """;

    private static final String LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('carillon.bootstrap', 0))";

    private static final String ONLY_BOOTSTRAP = """
            SELECT NOT EXISTS (SELECT 1 FROM carillon.api_key WHERE NOT bootstrap AND revoked_at IS NULL) AS only_bootstrap
            """;

    private static final String COLUMNS =
            "SELECT project, id, name, scopes, bootstrap, created_at, created_by, expires_at, revoked_at, used_at FROM carillon.api_key ";

    private static final String LIST = COLUMNS + "WHERE project = ? AND id > ? ORDER BY id LIMIT ?";

    private static final String GET = COLUMNS + "WHERE project = ? AND id = ?";

    private static final String REVOKE = """
            UPDATE carillon.api_key SET revoked_at = carillon.clock() WHERE project = ? AND id = ? AND revoked_at IS NULL
            """;

    private static final String EXPIRE = """
            UPDATE carillon.api_key SET expires_at = least(expires_at, carillon.clock() + make_interval(secs => ?))
             WHERE project = ? AND id = ? AND revoked_at IS NULL
            """;

    private final Transactions transactions;

    public ApiKeyRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /**
     * A key that is neither revoked nor expired, with the hash of its secret.
     *
     * @param isUseStale whether the last recorded use is older than a minute
     * @param requestsPerSecond the limit of its project; null if the project has none of its own
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record ValidApiKey(
            String project,
            byte[] hash,
            List<String> scopes,
            boolean isUseStale,
            @Nullable Double requestsPerSecond) {}

    public Optional<ValidApiKey> findValid(String id) {
        return transactions.runStatementAsServer(connection -> Sql.first(
                connection,
                FIND_VALID,
                row -> new ValidApiKey(
                        row.getString("project"),
                        row.getBytes("hash"),
                        Sql.texts(row, "scopes"),
                        row.getBoolean("stale"),
                        row.getObject("requests_per_second", Double.class)),
                id));
    }

    /** Records that the key is used now, at most once a minute. */
    public void markUsed(String id) {
        transactions.runStatementAsServer(connection -> Sql.update(connection, MARK_USED, id));
    }

    /**
     * A key to store.
     *
     * @param expiresAt null if the key does not expire
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record NewKey(
            String id,
            byte[] hash,
            String name,
            List<String> scopes,
            String createdBy,
            @Nullable Instant expiresAt) {}

    public void insert(Connection connection, String project, NewKey key) throws SQLException {
        Sql.update(
                connection,
                INSERT,
                project,
                key.id(),
                key.hash(),
                key.name(),
                key.scopes(),
                false,
                key.createdBy(),
                key.expiresAt());
    }

    /**
     * Stores the first key if no key exists. Returns false if one exists; if many nodes start simultaneously, one of
     * them succeeds.
     */
    public boolean insertBootstrap(String id, byte[] hash) {
        return transactions.runAsServer(connection -> {
            Sql.list(connection, LOCK, row -> row);
            return Sql.update(connection, INSERT_BOOTSTRAP, id, hash) == 1;
        });
    }

    /** Returns whether the bootstrap key is the only key that is not revoked. */
    public boolean hasOnlyBootstrapKey() {
        return transactions
                .runStatementAsServer(
                        connection -> Sql.first(connection, ONLY_BOOTSTRAP, row -> row.getBoolean("only_bootstrap")))
                .orElse(true);
    }

    public List<ApiKey> list(Connection connection, String project, String after, int limit) throws SQLException {
        return Sql.list(connection, LIST, ApiKeyRepository::read, project, after, limit);
    }

    public Optional<ApiKey> get(Connection connection, String project, String id) throws SQLException {
        return Sql.first(connection, GET, ApiKeyRepository::read, project, id);
    }

    public boolean revoke(Connection connection, String project, String id) throws SQLException {
        return Sql.update(connection, REVOKE, project, id) == 1;
    }

    /** Makes a key expire after so many seconds, unless it expires earlier. Returns false if the key was revoked. */
    public boolean expireAfter(Connection connection, String project, String id, double seconds) throws SQLException {
        return Sql.update(connection, EXPIRE, seconds, project, id) == 1;
    }

    private static ApiKey read(ResultSet row) throws SQLException {
        return new ApiKey(
                row.getString("project"),
                row.getString("id"),
                row.getString("name"),
                Sql.texts(row, "scopes"),
                row.getBoolean("bootstrap"),
                new ApiKey.Creation(Sql.requiredInstant(row, "created_at"), row.getString("created_by")),
                Sql.instant(row, "expires_at"),
                Sql.instant(row, "revoked_at"),
                Sql.instant(row, "used_at"));
    }
}
