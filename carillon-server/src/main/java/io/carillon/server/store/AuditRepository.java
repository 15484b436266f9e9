package io.carillon.server.store;

import io.carillon.value.PublicId;
import io.carillon.value.Text;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Who changed what, and when: written with the change, never changed itself. */
public final class AuditRepository {
    private static final String INSERT = """
            INSERT INTO carillon.audit (project, id, actor, action, object, detail, request) VALUES (?, ?, ?, ?, ?, ?::jsonb, ?)
            """;

    private static final String LIST = """
            SELECT id, at, actor, action, object, detail, request FROM carillon.audit
             WHERE project = ? AND id < ? AND action = coalesce(?, action) AND actor = coalesce(?, actor) AND object = coalesce(?, object)
             ORDER BY id DESC LIMIT ?
            """;

    // From project to project over its key. Ids carry the database's time; those of versions before did not, and may be
    // an hour off.
    private static final String FORGET = """
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
    private static final UUID LAST = new UUID(-1, -1);

    private final Transactions transactions;

    public AuditRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** A change: who, what, to which thing, and details without secrets as JSON. */
    public record Change(String actor, String action, String object, String detail, String request) {}

    /** A change as it was written down. */
    public record Entry(String id, Instant at, Change change) {}

    /** Which changes: a part that is null matches all. */
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
                Text.clean(change.actor(), 200),
                change.action(),
                Text.clean(change.object(), 300),
                change.detail(),
                change.request());
    }

    /** Removes lines older than this, some thousands at a time; returns how many. Outside the wall: who calls may write them, and no more. */
    public int forget(Duration kept) {
        double seconds = kept.toMillis() / 1e3;
        return transactions.single(connection -> Sql.update(connection, FORGET, seconds, seconds));
    }

    /** Newest first, those before this one; the empty text stands for the end. */
    public List<Entry> list(Connection connection, String project, String before, Filter filter, int limit)
            throws SQLException {
        UUID from = before.isEmpty() ? LAST : PublicId.parse(PREFIX, before);
        return Sql.list(
                connection,
                LIST,
                row -> new Entry(
                        PublicId.format(PREFIX, row.getObject("id", UUID.class)),
                        Sql.instantThere(row, "at"),
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
