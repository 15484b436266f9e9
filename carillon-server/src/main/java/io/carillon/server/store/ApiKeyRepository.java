package io.carillon.server.store;

import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.server.http.KeyLimits;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The API keys of projects. The authenticator compares the hash of a secret, in constant time. */
public final class ApiKeyRepository {
    // Searches by the unique id alone: the project is known only after the key was found.
    private static final String FIND_VALID = """
            SELECT k.project, k.hash, k.scopes, k.addresses, k.queues, k.handlers, k.endpoints, k.used_at IS NULL
              OR k.used_at < carillon.clock() - interval '1 minute' AS stale,
                   least(k.expires_at, k.replaced_at) AS ends_at, p.requests_per_second
              FROM carillon.api_key k JOIN carillon.project p USING (project)
             WHERE k.id = :id AND k.revoked_at IS NULL
               AND coalesce(least(k.expires_at, k.replaced_at) > carillon.clock(), true)
            """;

    private static final String FIND_HASH = "SELECT project, id, hash FROM carillon.api_key WHERE id = :id";

    private static final String MARK_USED = """
            UPDATE carillon.api_key SET used_at = carillon.clock()
             WHERE id = :id AND (used_at IS NULL OR used_at < carillon.clock() - interval '1 minute')
            """;

    private static final String INSERT = """
            INSERT INTO carillon.api_key (project, id, hash, name, scopes, bootstrap, created_by, expires_at,
                                          addresses, queues, handlers, endpoints)
            VALUES (:project, :id, :hash, :name, :scopes, false, :createdBy, :expiresAt, :addresses, :queues, :handlers,
                    :endpoints)
            """;

    private static final String INSERT_BOOTSTRAP = """
            INSERT INTO carillon.api_key (project, id, hash, name, scopes, bootstrap, created_by)
            SELECT 'default', :id, :hash, 'bootstrap', ARRAY['admin'], true, 'first start'
             WHERE NOT EXISTS (SELECT 1 FROM carillon.api_key)
            """;

    private static final String LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('carillon.bootstrap', 0))";

    private static final String ONLY_BOOTSTRAP = """
            SELECT NOT EXISTS (SELECT 1 FROM carillon.api_key
              WHERE NOT bootstrap AND revoked_at IS NULL) AS only_bootstrap
            """;

    private static final String COLUMNS =
            "SELECT project, id, name, scopes, bootstrap, created_at, created_by, least(expires_at, replaced_at)"
                    + " AS ends_at, revoked_at, used_at, addresses, queues, handlers, endpoints FROM carillon.api_key ";

    private static final String LIST = COLUMNS + "WHERE project = :project AND id > :after ORDER BY id LIMIT :limit";

    private static final String GET = COLUMNS + "WHERE project = :project AND id = :id";

    private static final String GET_VALID =
            GET + " AND revoked_at IS NULL AND coalesce(least(expires_at, replaced_at) > carillon.clock(), true)";

    private static final String REVOKE = """
            UPDATE carillon.api_key SET revoked_at = carillon.clock()
             WHERE project = :project AND id = :id AND revoked_at IS NULL
            """;

    // The expiry of the old key stays: a second rotation of it must not create a key that ends with the overlap.
    private static final String REPLACE = """
            UPDATE carillon.api_key SET replaced_at = least(replaced_at,
              carillon.clock() + make_interval(secs => :seconds))
             WHERE project = :project AND id = :id AND revoked_at IS NULL
               AND coalesce(least(expires_at, replaced_at) > carillon.clock(), true)
               AND (:again OR replaced_at IS NULL)
            RETURNING expires_at
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
            KeyLimits limits,
            @Nullable Double requestsPerSecond) {}

    public Optional<ValidApiKey> findValid(String id) {
        return transactions.runStatementAsServer(session -> session.query(FIND_VALID)
                .text("id", id)
                .first(row -> new ValidApiKey(
                        row.text("project"),
                        row.bytes("hash"),
                        row.texts("scopes"),
                        row.flag("stale"),
                        limits(row),
                        row.maybeReal("requests_per_second"))));
    }

    /** The hash of a key that may be expired or revoked. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record StoredHash(String project, String id, byte[] hash) {}

    /** Returns the hash of a key, also of one that is not valid. */
    public Optional<StoredHash> findHash(String id) {
        return transactions.runStatementAsServer(session -> session.query(FIND_HASH)
                .text("id", id)
                .first(row -> new StoredHash(row.text("project"), row.text("id"), row.bytes("hash"))));
    }

    /** Records that the key is used now, at most once a minute. */
    public void markUsed(String id) {
        transactions.runStatementAsServer(
                session -> session.query(MARK_USED).text("id", id).update());
    }

    /** A key to store. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record NewKey(
            String id, byte[] hash, String name, List<String> scopes, String createdBy, KeyLimits limits) {}

    public void insert(Session session, String project, NewKey key) throws SQLException {
        session.query(INSERT)
                .text("project", project)
                .text("id", key.id())
                .bytes("hash", key.hash())
                .text("name", key.name())
                .texts("scopes", key.scopes())
                .text("createdBy", key.createdBy())
                .instant("expiresAt", key.limits().expiresAt())
                .texts("addresses", key.limits().addresses())
                .texts("queues", key.limits().queues())
                .texts("handlers", key.limits().handlers())
                .texts("endpoints", key.limits().endpoints())
                .update();
    }

    /** Runs in the transaction that stores a key. */
    @FunctionalInterface
    public interface InsertAction {
        void run(Session session) throws SQLException;
    }

    /**
     * Stores the first key if no key exists, and runs {@code action} before the commit. Returns false if a key exists;
     * if many nodes start simultaneously, one of them succeeds.
     */
    public boolean insertBootstrap(String id, byte[] hash, InsertAction action) {
        return transactions.runAsServer(session -> {
            session.query(LOCK).list(row -> row);
            boolean inserted = session.query(INSERT_BOOTSTRAP)
                            .text("id", id)
                            .bytes("hash", hash)
                            .update()
                    == 1;
            if (inserted) action.run(session);
            return inserted;
        });
    }

    /** Returns whether the bootstrap key is the only key that is not revoked. */
    public boolean hasOnlyBootstrapKey() {
        return transactions
                .runStatementAsServer(session -> session.query(ONLY_BOOTSTRAP).first(row -> row.flag("only_bootstrap")))
                .orElse(true);
    }

    public List<ApiKey> list(Session session, String project, String after, int limit) throws SQLException {
        return session.query(LIST)
                .text("project", project)
                .text("after", after)
                .number("limit", limit)
                .list(ApiKeyRepository::read);
    }

    public Optional<ApiKey> get(Session session, String project, String id) throws SQLException {
        return bindKey(session.query(GET), project, id).first(ApiKeyRepository::read);
    }

    /** Returns a key that has not ended, as the database knows it now. */
    public Optional<ApiKey> getValid(Session session, String project, String id) throws SQLException {
        return bindKey(session.query(GET_VALID), project, id).first(ApiKeyRepository::read);
    }

    public boolean revoke(Session session, String project, String id) throws SQLException {
        return bindKey(session.query(REVOKE), project, id).update() == 1;
    }

    /** The expiry that a key was created with; {@code at} is null if it does not expire. */
    public record Expiry(@Nullable Instant at) {}

    /**
     * Ends a key after so many seconds, unless it expires earlier, and returns the expiry that it was created with.
     *
     * @param again whether to replace a key that was replaced before
     * @return empty if the key was revoked or has expired, or was replaced before
     */
    public Optional<Expiry> replaceAfter(Session session, String project, String id, double seconds, boolean again)
            throws SQLException {
        return bindKey(session.query(REPLACE), project, id)
                .real("seconds", seconds)
                .flag("again", again)
                .first(row -> new Expiry(row.maybeInstant("expires_at")));
    }

    private static Query bindKey(Query query, String project, String id) throws SQLException {
        return query.text("project", project).text("id", id);
    }

    private static ApiKey read(Row row) throws SQLException {
        return new ApiKey(
                row.text("project"),
                row.text("id"),
                row.text("name"),
                row.texts("scopes"),
                row.flag("bootstrap"),
                new ApiKey.Creation(row.instant("created_at"), row.text("created_by")),
                limits(row),
                row.maybeInstant("revoked_at"),
                row.maybeInstant("used_at"));
    }

    private static KeyLimits limits(Row row) throws SQLException {
        return new KeyLimits(
                row.maybeInstant("ends_at"),
                row.texts("addresses"),
                row.texts("queues"),
                row.texts("handlers"),
                row.texts("endpoints"));
    }
}
