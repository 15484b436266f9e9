package io.carillon.server.store;

import io.carillon.value.PublicId;
import io.carillon.value.TextCleaner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The audit log. An entry is written in the transaction of its change and never updated. */
public final class AuditRepository {
    private static final String INSERT = """
            INSERT INTO carillon.audit (project, id, actor, action, object, detail, request) VALUES (?, ?, ?, ?, ?, ?::jsonb, ?)
            """;

    private static final String LIST = """
            SELECT id, at, actor, action, object, detail, request FROM carillon.audit
             WHERE project = ? AND id < ? AND action = coalesce(?, action) AND actor = coalesce(?, actor) AND object = coalesce(?, object)
             ORDER BY id DESC LIMIT ?
            """;

    // Goes from project to project along the primary key. Ids contain the database time; ids of earlier versions
    // contain the time of a server, which may differ by an hour.
    private static final String DELETE_EXPIRED = """
            DELETE FROM carillon.audit WHERE ctid = any(array(
              SELECT old.ctid FROM carillon.project p
               CROSS JOIN LATERAL (
                SELECT a.ctid FROM carillon.audit a
                 WHERE a.project = p.project AND a.at < carillon.clock() - make_interval(secs => ?)
                   AND a.id < (lpad(to_hex(greatest(0, extract(epoch FROM carillon.clock()) + 3600 - ?) :: bigint * 1000), 12, '0') || repeat('0', 20))::uuid
                 ORDER BY a.id LIMIT 1000) old
               LIMIT 10000))
            """;

    private static final String PREFIX = "aud";
    private static final UUID MAX_ID = new UUID(-1, -1);

    private final Transactions transactions;

    public AuditRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /**
     * A change.
     *
     * @param actor the caller
     * @param action such as {@code schedule.pause}
     * @param object such as {@code schedule/nightly}
     * @param detail further details as JSON, without secrets
     */
    public record Change(String actor, String action, String object, String detail, String requestId) {}

    /** A stored change. */
    public record Entry(String id, Instant at, Change change) {}

    /** Selects changes; a part that is null matches all. */
    public record Filter(
            @Nullable String action,
            @Nullable String actor,
            @Nullable String object) {}

    public void write(Connection connection, String project, Change change) throws SQLException {
        Sql.update(
                connection,
                INSERT,
                project,
                transactions.newId(),
                TextCleaner.clean(change.actor(), 200),
                change.action(),
                TextCleaner.clean(change.object(), 300),
                change.detail(),
                change.requestId());
    }

    /**
     * Deletes entries older than {@code retention}, at most 10,000 at a time, and returns their number. Runs with the
     * server's rights, because the role of requests may only add entries.
     */
    public int deleteOlderThan(Duration retention) {
        double seconds = retention.toMillis() / 1e3;
        return transactions.runStatementAsServer(
                connection -> Sql.update(connection, DELETE_EXPIRED, seconds, seconds));
    }

    /**
     * Returns entries of a project, newest first, from before the entry {@code before}; the empty string means from the
     * newest.
     */
    public List<Entry> list(Connection connection, String project, String before, Filter filter, int limit)
            throws SQLException {
        UUID from = before.isEmpty() ? MAX_ID : PublicId.parse(PREFIX, before);
        return Sql.list(
                connection,
                LIST,
                row -> new Entry(
                        PublicId.format(PREFIX, row.getObject("id", UUID.class)),
                        Sql.requiredInstant(row, "at"),
                        new Change(
                                row.getString("actor"),
                                row.getString("action"),
                                row.getString("object"),
                                row.getString("detail"),
                                row.getString("request"))),
                project,
                from,
                filter.action(),
                filter.actor(),
                filter.object(),
                limit);
    }
}
