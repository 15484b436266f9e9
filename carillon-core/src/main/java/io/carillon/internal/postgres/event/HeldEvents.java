package io.carillon.internal.postgres.event;

import io.carillon.event.EventId;
import io.carillon.event.Relay;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.RelayStore.Decided;
import io.carillon.internal.store.event.RelayStore.Lease;
import io.carillon.internal.store.event.RelayStore.Name;
import io.carillon.internal.store.event.RelayStore.Positioned;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The events that relays have passed and not sent. The first event of a blocked key is the rejected one; those behind
 * it are waiting. When the first one is removed, the next one takes its place in the state "retry" in the same
 * statement. Only the node with the lease removes rows; operators write their decision into the row.
 */
final class HeldEvents {
    private static final String FIRST_DECIDED = """
            SELECT snapshot, seq, key, blocks, state = 'skip' AS skipped FROM carillon.event_relay_held
             WHERE project = :project AND relay = :name AND state IN ('retry', 'skip')
               AND (:snapshot::int8 IS NULL OR (snapshot, seq) = (:snapshot::int8, :seq::int8))
             ORDER BY snapshot, seq LIMIT 1
            """;

    private static final String BEHIND = """
            FROM carillon.event_relay_held h
             WHERE h.project = :project AND h.relay = :name AND h.key = :key AND h.blocks
            """;

    // Retention may have removed an event; its row has no data then.
    private static final String ROWS = """
            SELECT * FROM (
              SELECT h.snapshot, h.seq, s.id, s.topic, s.type, s.key, s.version, s.published_at, s.schedule,
                s.planned_at, s.headers, s.codec, s.data,
                     sum(coalesce(octet_length(s.data), 0)) OVER (ORDER BY h.snapshot, h.seq)
                       - coalesce(octet_length(s.data), 0) AS before
                FROM (SELECT * %s ORDER BY h.snapshot, h.seq LIMIT :limit) h
                LEFT JOIN LATERAL (SELECT * FROM carillon.event_store e
                                    WHERE e.project = h.project AND e.id BETWEEN h.event AND h.event AND e.day = h.day
                                    ORDER BY e.id LIMIT 1) s ON true) x
             WHERE before < :bytes ORDER BY snapshot, seq
            """;

    private static final String BLOCKING_ROWS =
            ROWS.formatted(BEHIND + " AND (h.snapshot, h.seq) >= (:snapshot, :seq)");

    private static final String PARKED_ROW = ROWS.formatted("""
            FROM carillon.event_relay_held h
             WHERE h.project = :project AND h.relay = :name AND h.snapshot = :snapshot AND h.seq = :seq
            """);

    private static final String NEXT = "SELECT h.snapshot, h.seq " + BEHIND
            + " AND (h.snapshot, h.seq) > (:snapshot, :seq) ORDER BY h.snapshot, h.seq LIMIT 1";

    // REMOVE looks whether the first event is still held. It starts when this lock is held, so that it sees what
    // another try of the same removal has done.
    private static final String LOCK = """
            SELECT 1 AS locked FROM carillon.event_relay
             WHERE project = :project AND name = :name AND epoch = :epoch FOR NO KEY UPDATE
            """;

    // The relay is written by its key and fence, and the other writes read its RETURNING.
    private static final String REMOVE = """
            WITH fence AS (
              UPDATE carillon.event_relay
                 SET sent = sent + :sent, sent_at = CASE WHEN :sent > 0 THEN carillon.clock() ELSE sent_at END,
                     failing_since = NULL, error = NULL
               WHERE project = :project AND name = :name AND epoch = :epoch
                 AND EXISTS (SELECT 1 FROM carillon.event_relay_held h
                              WHERE h.project = :project AND h.relay = :name
                                AND h.snapshot = (:snapshots::int8[])[1] AND h.seq = (:seqs::int8[])[1])
              RETURNING project, name),
            gone AS (
              DELETE FROM carillon.event_relay_held h USING fence f, unnest(:snapshots::int8[],
                :seqs::int8[]) AS w(snapshot, seq)
               WHERE h.project = f.project AND h.relay = f.name AND h.snapshot = w.snapshot AND h.seq = w.seq
              RETURNING 1),
            next AS (
              UPDATE carillon.event_relay_held h SET state = 'retry' FROM fence f
               WHERE h.project = f.project AND h.relay = f.name AND h.snapshot = :nextSnapshot AND h.seq = :nextSeq
                 AND h.state = 'waiting'
              RETURNING 1)
            SELECT (SELECT count(*) FROM gone) AS gone, (SELECT count(*) FROM next) AS next
            """;

    private static final String REJECT_AGAIN = """
            WITH fence AS MATERIALIZED (
              SELECT project, name FROM carillon.event_relay
               WHERE project = :project AND name = :name AND epoch = :epoch FOR NO KEY UPDATE)
            UPDATE carillon.event_relay_held h SET state = 'rejected', reason = :reason FROM fence f
             WHERE h.project = f.project AND h.relay = f.name AND h.snapshot = :snapshot AND h.seq = :seq
               AND h.state = 'retry'
            """;

    private static final String REJECTED = """
            SELECT event, key, blocks, reason, held_at FROM carillon.event_relay_held
             WHERE project = :project AND relay = :name AND state = 'rejected' ORDER BY snapshot, seq LIMIT :limit
            """;

    private static final String DECIDE = """
            UPDATE carillon.event_relay_held SET state = CASE WHEN :retry THEN 'retry' ELSE 'skip' END
             WHERE project = :project AND relay = :name AND event = :event AND state = 'rejected'
            """;

    private final Database database;

    HeldEvents(Database database) {
        this.database = database;
    }

    private static Query name(Query query, Name relay) throws SQLException {
        return query.text("project", relay.project()).text("name", relay.name());
    }

    private static Query lease(Query query, Lease lease) throws SQLException {
        return name(query, lease.name()).number("epoch", lease.epoch());
    }

    private record First(EventPosition position, @Nullable String key, boolean blocks, boolean skipped) {}

    private static EventPosition position(Row row) throws SQLException {
        return new EventPosition(row.number("snapshot"), row.number("seq"));
    }

    Optional<Decided> decided(Lease lease, @Nullable EventPosition at, int maxEvents, long maxBytes) {
        return database.single(session -> {
            Optional<First> found = name(session.query(FIRST_DECIDED), lease.name())
                    .number("snapshot", at == null ? null : at.snapshot())
                    .number("seq", at == null ? null : at.seq())
                    .first(row ->
                            new First(position(row), row.maybeText("key"), row.flag("blocks"), row.flag("skipped")));
            if (found.isEmpty()) return Optional.empty();
            First first = found.get();
            List<EventPosition> rows = new ArrayList<>();
            List<Positioned> events = new ArrayList<>();
            if (first.skipped()) rows.add(first.position());
            else
                at(session, first.blocks() ? BLOCKING_ROWS : PARKED_ROW, lease.name(), first)
                        .number("limit", maxEvents)
                        .number("bytes", maxBytes)
                        .list(row -> {
                            rows.add(position(row));
                            return row.maybeUuid("id") != null && events.add(RelayRepository.positioned(row));
                        });
            return Optional.of(new Decided(rows, events, next(session, lease.name(), first, rows)));
        });
    }

    private static Query at(Session session, String sql, Name relay, First first) throws SQLException {
        Query query = name(session.query(sql), relay)
                .number("snapshot", first.position().snapshot())
                .number("seq", first.position().seq());
        return first.blocks() ? query.text("key", first.key()) : query;
    }

    private static @Nullable EventPosition next(Session session, Name relay, First first, List<EventPosition> rows)
            throws SQLException {
        if (!first.blocks()) return null;
        First last = new First(rows.get(rows.size() - 1), first.key(), true, false);
        return at(session, NEXT, relay, last).first(HeldEvents::position).orElse(null);
    }

    void remove(Lease lease, List<EventPosition> rows, @Nullable EventPosition next, long sent) {
        database.transaction(session -> {
            if (lease(session.query(LOCK), lease).first(row -> true).isEmpty()) return false;
            return lease(session.query(REMOVE), lease)
                    .column("snapshots", "int8", rows, EventPosition::snapshot)
                    .column("seqs", "int8", rows, EventPosition::seq)
                    .number("nextSnapshot", next == null ? null : next.snapshot())
                    .number("nextSeq", next == null ? null : next.seq())
                    .number("sent", sent)
                    .list(row -> row.number("gone"))
                    .isEmpty();
        });
    }

    void rejectAgain(Lease lease, EventPosition position, String reason) {
        database.single(session -> lease(session.query(REJECT_AGAIN), lease)
                .number("snapshot", position.snapshot())
                .number("seq", position.seq())
                .text("reason", reason)
                .update());
    }

    List<Relay.Rejected> rejected(Name relay, int limit) {
        return database.single(session -> name(session.query(REJECTED), relay)
                .number("limit", limit)
                .list(row -> new Relay.Rejected(
                        new EventId(row.uuid("event")),
                        row.maybeText("key"),
                        row.flag("blocks"),
                        row.text("reason"),
                        row.instant("held_at"))));
    }

    boolean decide(Name relay, EventId event, boolean retry) {
        return database.single(session -> name(session.query(DECIDE), relay)
                        .uuid("event", event.value())
                        .flag("retry", retry)
                        .update()
                > 0);
    }
}
