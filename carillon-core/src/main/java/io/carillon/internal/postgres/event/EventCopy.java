package io.carillon.internal.postgres.event;

import io.carillon.internal.jdbc.CopyBuffer;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.value.EventHeaders;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** An insert of many events by COPY, in a transaction of its own. COPY cannot handle conflicts. */
final class EventCopy {
    private static final int MIN_EVENTS = 1_000;
    private static final short COLUMNS = 10;

    // The beginning of an epoch waits for this lock. Without it, an epoch could begin between the statements.
    private static final String LOCK = "LOCK TABLE ONLY carillon.event_store IN ROW EXCLUSIVE MODE";

    private static final String XID = "SELECT carillon.event_xid()::text AS xid";

    private static final String COPY =
            "COPY carillon.event_store (project, id, day, xid, topic, type, key, codec, data, headers)"
                    + " FROM STDIN (FORMAT binary)";

    private static final String NOTIFY =
            "SELECT 1 AS sent FROM pg_notify('carillon', 'events ' || mod(pg_current_xact_id()::text::bigint, 100000))";

    private final Database database;

    EventCopy(Database database) {
        this.database = database;
    }

    static boolean supports(List<EventToStore> events) {
        return events.size() >= MIN_EVENTS;
    }

    /**
     * Returns false if nothing was stored: the connection is not a plain PostgreSQL connection, a new epoch must begin,
     * or some events exist already, because an earlier try was committed and its answer was lost. The caller then
     * inserts the events in another way, which finds out.
     */
    boolean store(List<EventToStore> events, boolean notifyNodes) {
        try {
            return database.transaction(session -> {
                if (!CopyBuffer.isSupported(session.connection())) return false;
                session.query(LOCK).update();
                Optional<Long> xid = session.query(XID)
                        .list(row -> Optional.ofNullable(row.maybeText("xid")).map(Long::valueOf))
                        .get(0);
                if (xid.isEmpty()) return false;
                long number = xid.get();
                CopyBuffer.copy(session.connection(), COPY, rows -> {
                    for (EventToStore event : events) writeRow(rows, event, number);
                });
                if (notifyNodes) session.query(NOTIFY).list(row -> row.integer("sent"));
                return true;
            });
        } catch (StorageException failure) {
            if (failure.isUniqueViolation() || failure.isUnsupported()) return false;
            throw failure;
        }
    }

    private static void writeRow(CopyBuffer rows, EventToStore event, long xid) throws SQLException {
        rows.columns(COLUMNS);
        rows.text(event.project());
        rows.uuid(event.id().value());
        rows.date(event.day());
        rows.number(xid);
        rows.text(event.topic());
        rows.text(event.type());
        rows.maybeText(event.key());
        rows.text(event.data().codec());
        rows.bytes(event.data().bytes());
        rows.maybeText(EventHeaders.toJson(event.headers()));
    }
}
