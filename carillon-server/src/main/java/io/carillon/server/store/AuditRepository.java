package io.carillon.server.store;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.value.PublicId;
import io.carillon.internal.value.TextCleaner;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The audit log. An entry is written in the transaction of its change and never updated. */
public final class AuditRepository {
    private static final String INSERT = """
            INSERT INTO carillon.audit (project, id, actor, action, object, detail, request_id)
            SELECT :project, e.id, e.actor, e.action, e.object, e.detail::jsonb, e.request
              FROM unnest(:ids::uuid[], :actors::text[], :actions::text[], :objects::text[], :details::text[],
                  :requests::text[])
                AS e(id, actor, action, object, detail, request)
            """;

    private static final String LIST = """
            SELECT id, at, actor, action, object, detail, request_id
              FROM (SELECT * FROM carillon.audit WHERE project = :project AND id < :before
                     ORDER BY id DESC LIMIT :entries) newest
             WHERE action = coalesce(:action, action) AND actor = coalesce(:actor, actor)
               AND object = coalesce(:object, object)
             ORDER BY id DESC LIMIT :limit
            """;

    private static final String LAST_READ = """
            SELECT id FROM carillon.audit WHERE project = :project AND id < :before
             ORDER BY id DESC OFFSET :entries - 1 LIMIT 1
            """;

    /** The number of entries that a page reads, however few of them match. */
    private static final int MAX_READ = 10_000;

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
        write(session, project, List.of(change));
    }

    /** Writes an entry for each change, in their order. */
    public void write(Session session, String project, List<Change> changes) throws SQLException {
        session.query(INSERT)
                .text("project", project)
                .column("ids", "uuid", changes, change -> transactions.newId())
                .column("actors", "text", changes, change -> TextCleaner.clean(change.actor(), 200))
                .column("actions", "text", changes, Change::action)
                .column("objects", "text", changes, change -> TextCleaner.clean(change.object(), 300))
                .column("details", "text", changes, Change::detail)
                .column("requests", "text", changes, Change::requestId)
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
     * Entries of a project.
     *
     * @param next the id of the entry that the next page follows; empty after the last page
     */
    public record Page(List<Entry> entries, Optional<String> next) {}

    /**
     * Returns entries of a project, newest first, from before the entry {@code before}; the empty string means
     * from the newest. The page may be short although it is not the last one, because it reads a limited number of
     * entries.
     */
    public Page page(Session session, String project, String before, Filter filter, int limit) throws SQLException {
        UUID from = before.isEmpty() ? MAX_ID : PublicId.parse(PREFIX, before);
        List<Entry> found = list(session, project, from, filter, limit + 1);
        if (found.size() > limit)
            return new Page(
                    found.subList(0, limit), Optional.of(found.get(limit - 1).id()));
        return new Page(found, lastRead(session, project, from));
    }

    private static Optional<String> lastRead(Session session, String project, UUID from) throws SQLException {
        return session.query(LAST_READ)
                .text("project", project)
                .uuid("before", from)
                .number("entries", MAX_READ)
                .first(row -> PublicId.format(PREFIX, row.uuid("id")));
    }

    private static List<Entry> list(Session session, String project, UUID from, Filter filter, int limit)
            throws SQLException {
        return session.query(LIST)
                .number("entries", MAX_READ)
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
