package io.carillon.server.store;

import io.carillon.internal.jdbc.Session;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The responses to requests with an Idempotency-Key, kept for 24 hours. The transaction of the effect inserts the key,
 * so both are committed or neither.
 */
public final class IdempotencyRepository {
    // Waits for another transaction that has inserted one of the keys and not committed, up to the lock timeout. All
    // transactions insert in one order, so that no two of them wait for each other.
    private static final String INSERT = """
            INSERT INTO carillon.idempotency (project, key, request_hash)
            SELECT :project, e.key, e.request FROM unnest(:keys::text[], :requests::bytea[]) AS e(key, request)
             ORDER BY e.key COLLATE "C"
            ON CONFLICT (project, key) DO NOTHING RETURNING key
            """;

    private static final String GET = """
            SELECT key, request_hash, status, body, headers ->> 'ETag' AS etag,
                   headers ->> 'Location' AS location FROM carillon.idempotency
             WHERE project = :project AND key = ANY (:keys::text[])
            """;

    private static final String UPDATE = """
            UPDATE carillon.idempotency i
               SET status = e.status, body = e.body,
                   headers = jsonb_strip_nulls(jsonb_build_object('ETag', e.etag, 'Location', e.location))
              FROM unnest(:keys::text[], :statuses::int[], :bodies::bytea[], :etags::text[], :locations::text[])
                AS e(key, status, body, etag, location)
             WHERE i.project = :project AND i.key = e.key
            """;

    private static final String DELETE =
            "DELETE FROM carillon.idempotency WHERE project = :project AND key = ANY (:keys::text[])";

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
     * @param location the path of the created resource; empty if the response had none
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record StoredResponse(
            byte[] requestHash, int status, byte[] body, Optional<String> entityTag, Optional<String> location) {}

    /**
     * Reserves keys.
     *
     * @param requests the hash of the request of each key
     * @return the reserved keys; requests have used the others before
     */
    public Set<String> reserve(Session session, String project, Map<String, byte[]> requests) throws SQLException {
        return new HashSet<>(session.query(INSERT)
                .text("project", project)
                .texts("keys", requests.keySet())
                .column("requests", "bytea", requests.values(), request -> request)
                .list(row -> row.text("key")));
    }

    /** Returns the committed responses of these keys. */
    public Map<String, StoredResponse> get(Session session, String project, Collection<String> keys)
            throws SQLException {
        Map<String, StoredResponse> stored = new HashMap<>();
        session.query(GET)
                .text("project", project)
                .texts("keys", keys)
                .list(row -> stored.put(
                        row.text("key"),
                        new StoredResponse(
                                row.bytes("request_hash"),
                                row.integer("status"),
                                row.bytes("body"),
                                Optional.ofNullable(row.maybeText("etag")),
                                Optional.ofNullable(row.maybeText("location")))));
        return stored;
    }

    /** Stores the responses of keys that the transaction has reserved. */
    public void save(Session session, String project, Map<String, StoredResponse> answers) throws SQLException {
        Collection<StoredResponse> responses = answers.values();
        session.query(UPDATE)
                .text("project", project)
                .texts("keys", answers.keySet())
                .column("statuses", "int4", responses, StoredResponse::status)
                .column("bodies", "bytea", responses, StoredResponse::body)
                .column(
                        "etags",
                        "text",
                        responses,
                        response -> response.entityTag().orElse(null))
                .column(
                        "locations",
                        "text",
                        responses,
                        response -> response.location().orElse(null))
                .update();
    }

    /** Deletes keys that the transaction has reserved for requests that it then rejected. */
    public void release(Session session, String project, Collection<String> keys) throws SQLException {
        session.query(DELETE).text("project", project).texts("keys", keys).update();
    }

    /** Deletes responses older than 24 hours, at most 10,000 at a time, and returns their number. */
    public int deleteExpired() {
        return transactions.runStatementAsServer(
                session -> session.query(DELETE_EXPIRED).update());
    }
}
