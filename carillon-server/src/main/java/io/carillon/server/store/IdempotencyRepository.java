package io.carillon.server.store;

import io.carillon.internal.jdbc.Session;
import java.sql.SQLException;
import java.util.Optional;

/**
 * The responses to requests with an Idempotency-Key, kept for 24 hours. The transaction of the effect inserts the key,
 * so both are committed or neither.
 */
public final class IdempotencyRepository {
    // Waits for another transaction that has inserted the key and not committed, up to the lock timeout.
    private static final String INSERT = """
            INSERT INTO carillon.idempotency (project, key, request_hash) VALUES (:project, :key, :request)
            ON CONFLICT (project, key) DO NOTHING
            """;

    private static final String GET = """
            SELECT request_hash, status, body, headers ->> 'ETag' AS etag FROM carillon.idempotency
             WHERE project = :project AND key = :key
            """;

    private static final String UPDATE = """
            UPDATE carillon.idempotency
               SET status = :status, body = :body, headers = jsonb_strip_nulls(jsonb_build_object('ETag', :etag::text))
             WHERE project = :project AND key = :key
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
    public boolean reserve(Session session, String project, String key, byte[] request) throws SQLException {
        return session.query(INSERT)
                        .text("project", project)
                        .text("key", key)
                        .bytes("request", request)
                        .update()
                == 1;
    }

    public Optional<StoredResponse> get(Session session, String project, String key) throws SQLException {
        return session.query(GET)
                .text("project", project)
                .text("key", key)
                .first(row -> new StoredResponse(
                        row.bytes("request_hash"),
                        row.integer("status"),
                        row.bytes("body"),
                        Optional.ofNullable(row.maybeText("etag"))));
    }

    public void save(Session session, String project, String key, StoredResponse answer) throws SQLException {
        session.query(UPDATE)
                .number("status", answer.status())
                .bytes("body", answer.body())
                .text("etag", answer.entityTag().orElse(null))
                .text("project", project)
                .text("key", key)
                .update();
    }

    /** Deletes responses older than 24 hours, at most 10,000 at a time, and returns their number. */
    public int deleteExpired() {
        return transactions.runStatementAsServer(
                session -> session.query(DELETE_EXPIRED).update());
    }
}
