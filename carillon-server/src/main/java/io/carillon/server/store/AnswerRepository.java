package io.carillon.server.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/** The answers of requests with an Idempotency-Key, kept for a day. The key is taken by the transaction of the effect: both are there, or neither. */
public final class AnswerRepository {
    // Waits for whoever holds the key uncommitted, for as long as locks may be waited for.
    private static final String TAKE = """
            INSERT INTO carillon.idempotency (project, key, request) VALUES (?, ?, ?) ON CONFLICT (project, key) DO NOTHING
            """;

    private static final String GET =
            "SELECT request, status, body, headers ->> 'ETag' AS etag FROM carillon.idempotency WHERE project = ? AND key = ?";

    private static final String KEEP = """
            UPDATE carillon.idempotency SET status = ?, body = ?, headers = jsonb_strip_nulls(jsonb_build_object('ETag', ?::text))
             WHERE project = ? AND key = ?
            """;

    private static final String FORGET = """
            DELETE FROM carillon.idempotency WHERE (project, key) IN (
              SELECT project, key FROM carillon.idempotency WHERE created_at < carillon.clock() - interval '24 hours'
               ORDER BY created_at LIMIT 10000 FOR UPDATE SKIP LOCKED)
            """;

    private final Transactions transactions;

    public AnswerRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** What was answered to which request; the entity tag may be empty. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Kept(byte[] request, int status, byte[] body, Optional<String> tag) {}

    /** Takes the key for this request; false: somebody had it before. */
    public boolean take(Connection connection, String project, String key, byte[] request) throws SQLException {
        return Sql.update(connection, TAKE, project, key, request) == 1;
    }

    public Optional<Kept> get(Connection connection, String project, String key) throws SQLException {
        return Sql.first(
                connection,
                GET,
                row -> new Kept(
                        row.getBytes("request"),
                        row.getInt("status"),
                        row.getBytes("body"),
                        Optional.ofNullable(row.getString("etag"))),
                project,
                key);
    }

    public void keep(Connection connection, String project, String key, Kept answer) throws SQLException {
        Sql.update(
                connection, KEEP, answer.status(), answer.body(), answer.tag().orElse(null), project, key);
    }

    /** Removes answers older than a day, some at a time; returns how many. */
    public int forget() {
        return transactions.single(connection -> Sql.update(connection, FORGET));
    }
}
