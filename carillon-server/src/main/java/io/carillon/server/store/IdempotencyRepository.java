package io.carillon.server.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * The responses to requests with an Idempotency-Key, kept for 24 hours. The transaction of the effect inserts the key,
 * so both are committed or neither.
 */
public final class IdempotencyRepository {
    // Waits for another transaction that has inserted the key and not committed, up to the lock timeout.
    private static final String INSERT = """
            INSERT INTO carillon.idempotency (project, key, request) VALUES (?, ?, ?) ON CONFLICT (project, key) DO NOTHING
            """;

    private static final String GET =
            "SELECT request, status, body, headers ->> 'ETag' AS etag FROM carillon.idempotency WHERE project = ? AND key = ?";

    private static final String UPDATE = """
            UPDATE carillon.idempotency SET status = ?, body = ?, headers = jsonb_strip_nulls(jsonb_build_object('ETag', ?::text))
             WHERE project = ? AND key = ?
            """;

    private static final String DELETE_EXPIRED = """
            DELETE FROM carillon.idempotency WHERE (project, key) IN (
              SELECT project, key FROM carillon.idempotency WHERE created_at < carillon.clock() - interval '24 hours'
               ORDER BY created_at LIMIT 10000 FOR UPDATE SKIP LOCKED)
            """;

    private final Transactions transactions;

    public IdempotencyRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /**
     * A stored response.
     *
     * @param requestHash the hash of the request that was answered
     * @param entityTag empty if the response had none
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record StoredResponse(byte[] requestHash, int status, byte[] body, Optional<String> entityTag) {}

    /** Reserves the key for this request. Returns false if a request has used the key before. */
    public boolean reserve(Connection connection, String project, String key, byte[] request) throws SQLException {
        return Sql.update(connection, INSERT, project, key, request) == 1;
    }

    public Optional<StoredResponse> get(Connection connection, String project, String key) throws SQLException {
        return Sql.first(
                connection,
                GET,
                row -> new StoredResponse(
                        row.getBytes("request"),
                        row.getInt("status"),
                        row.getBytes("body"),
                        Optional.ofNullable(row.getString("etag"))),
                project,
                key);
    }

    public void save(Connection connection, String project, String key, StoredResponse answer) throws SQLException {
        Sql.update(
                connection,
                UPDATE,
                answer.status(),
                answer.body(),
                answer.entityTag().orElse(null),
                project,
                key);
    }

    /** Deletes responses older than 24 hours, at most 10,000 at a time, and returns their number. */
    public int deleteExpired() {
        return transactions.runStatementAsServer(connection -> Sql.update(connection, DELETE_EXPIRED));
    }
}
