package io.carillon.server.store;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.value.PublicId;
import io.carillon.internal.value.TextCleaner;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The audit log. An entry is written in the transaction of its change and never updated. */
public final class AuditRepository {
    private static final String INSERT = """
            INSERT INTO carillon.audit (project, id, actor, action, object, detail, request_id)
            VALUES (:project, :id, :actor, :action, :object, :detail::jsonb, :request)
            """;

    private static final String LIST = """
            SELECT id, at, actor, action, object, detail, request_id FROM carillon.audit
             WHERE project = :project AND id < :before AND action = coalesce(:action, action)
               AND actor = coalesce(:actor, actor) AND object = coalesce(:object, object)
             ORDER BY id DESC LIMIT :limit
            """;

    // Goes from project to project along the primary key. Ids contain the database time; ids of earlier versions
    // contain the time of a server, which may differ by an hour.
    private static final String DELETE_EXPIRED = """
            DELETE FROM carillon.audit WHERE ctid = any(array(
              SELECT old.ctid FROM carillon.project p
               CROSS JOIN LATERAL (
                SELECT a.ctid FROM carillon.audit a
                 WHERE a.project = p.project AND a.at < carillon.clock() - make_interval(secs => :retention)
                   AND a.id < (lpad(to_hex(greatest(0,
                     extract(epoch FROM carillon.clock()) + 3600 - :retention)::bigint * 1000), 12, '0')
                     || repeat('0', 20))::uuid
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

    public void write(Session session, String project, Change change) throws SQLException {
        session.query(INSERT)
                .text("project", project)
                .uuid("id", transactions.newId())
                .text("actor", TextCleaner.clean(change.actor(), 200))
                .text("action", change.action())
                .text("object", TextCleaner.clean(change.object(), 300))
                .text("detail", change.detail())
                .text("request", change.requestId())
                .update();
    }

    /**
     * Deletes entries older than {@code retention}, at most 10,000 at a time, and returns their number. Runs with the
     * server's rights, because the role of requests may only add entries.
     */
    public int deleteOlderThan(Duration retention) {
        return transactions.runStatementAsServer(session ->
                session.query(DELETE_EXPIRED).seconds("retention", retention).update());
    }

    /**
     * Returns entries of a project, newest first, from before the entry {@code before}; the empty string means
     * from the newest.
     */
    public List<Entry> list(Session session, String project, String before, Filter filter, int limit)
            throws SQLException {
        UUID from = before.isEmpty() ? MAX_ID : PublicId.parse(PREFIX, before);
        return session.query(LIST)
                .text("project", project)
                .uuid("before", from)
                .text("action", filter.action())
                .text("actor", filter.actor())
                .text("object", filter.object())
                .number("limit", limit)
                .list(row -> new Entry(
                        PublicId.format(PREFIX, row.uuid("id")),
                        row.instant("at"),
                        new Change(
                                row.text("actor"),
                                row.text("action"),
                                row.text("object"),
                                row.text("detail"),
                                row.text("request_id"))));
    }
}
