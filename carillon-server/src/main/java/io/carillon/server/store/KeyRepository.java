package io.carillon.server.store;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The keys of projects. A secret is compared with its hash by whoever asked for the hash, in constant time. */
public final class KeyRepository {
    // By the unique id: who calls is found out before it is known whose project it is.
    private static final String VALID = """
            SELECT k.project, k.hash, k.scopes, k.used_at IS NULL OR k.used_at < carillon.clock() - interval '1 minute' AS stale,
                   p.requests_per_second
              FROM carillon.api_key k JOIN carillon.project p USING (project)
             WHERE k.id = ? AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > carillon.clock())
            """;

    private static final String USED = """
            UPDATE carillon.api_key SET used_at = carillon.clock()
             WHERE id = ? AND (used_at IS NULL OR used_at < carillon.clock() - interval '1 minute')
            """;

    private static final String INSERT = """
            INSERT INTO carillon.api_key (project, id, hash, name, scopes, bootstrap, created_by, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?::timestamptz)
            """;

    private static final String BOOTSTRAP = """
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

    public KeyRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** What a key that is neither revoked nor expired may do, and the hash to compare its secret with. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Valid(
            String project,
            byte[] hash,
            List<String> scopes,
            boolean stale,
            @Nullable Double requestsPerSecond) {}

    public Optional<Valid> valid(String id) {
        return transactions.single(connection -> Sql.first(
                connection,
                VALID,
                row -> new Valid(
                        row.getString("project"),
                        row.getBytes("hash"),
                        Sql.texts(row, "scopes"),
                        row.getBoolean("stale"),
                        row.getObject("requests_per_second", Double.class)),
                id));
    }

    /** Notes that a key is in use. */
    public void used(String id) {
        transactions.single(connection -> Sql.update(connection, USED, id));
    }

    /** A key to be stored: its id, the hash of its secret and what it is for. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record NewKey(
            String id,
            byte[] hash,
            String name,
            List<String> scopes,
            String by,
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
                key.by(),
                key.expiresAt());
    }

    /** Stores the first key, if there is none yet; of many nodes that start at once one succeeds. */
    public boolean bootstrap(String id, byte[] hash) {
        return transactions.house(connection -> {
            Sql.list(connection, LOCK, row -> row);
            return Sql.update(connection, BOOTSTRAP, id, hash) == 1;
        });
    }

    /** Whether nobody has made a key of their own yet. */
    public boolean onlyBootstrap() {
        return transactions
                .single(connection -> Sql.first(connection, ONLY_BOOTSTRAP, row -> row.getBoolean("only_bootstrap")))
                .orElse(true);
    }

    public List<ApiKey> list(Connection connection, String project, String after, int limit) throws SQLException {
        return Sql.list(connection, LIST, KeyRepository::read, project, after, limit);
    }

    public Optional<ApiKey> get(Connection connection, String project, String id) throws SQLException {
        return Sql.first(connection, GET, KeyRepository::read, project, id);
    }

    public boolean revoke(Connection connection, String project, String id) throws SQLException {
        return Sql.update(connection, REVOKE, project, id) == 1;
    }

    /** Lets a key end after a while, and not later than it would have. */
    public boolean expire(Connection connection, String project, String id, double seconds) throws SQLException {
        return Sql.update(connection, EXPIRE, seconds, project, id) == 1;
    }

    private static ApiKey read(ResultSet row) throws SQLException {
        return new ApiKey(
                row.getString("project"),
                row.getString("id"),
                row.getString("name"),
                Sql.texts(row, "scopes"),
                row.getBoolean("bootstrap"),
                new ApiKey.Made(Sql.instantThere(row, "created_at"), row.getString("created_by")),
                Sql.instant(row, "expires_at"),
                Sql.instant(row, "revoked_at"),
                Sql.instant(row, "used_at"));
    }
}
