package io.carillon.internal.postgres.event;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.event.EventId;
import io.carillon.event.Relay;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.store.event.RelayStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The relays: their leases and cursors. {@link HeldEvents} has the events that they do not send, {@link RelayListing}
 * what users see. A lease is an epoch that only grows. Each write of a sending node names its epoch, and the cursor
 * from which it moves.
 */
public final class RelayRepository implements RelayStore {
    private static final String CREATE = """
            INSERT INTO carillon.event_relay
              (project, name, topic, destination, cursor_snapshot, cursor_seq, leased_until)
            VALUES (:project, :name, :topic, :destination, :snapshot, 9223372036854775807, carillon.clock())
            ON CONFLICT (project, name) DO NOTHING
            """;

    private static final String CHANGE = """
            UPDATE carillon.event_relay SET destination = :destination
             WHERE project = :project AND name = :name AND topic = :topic
            """;

    private static final String TOPIC = """
            SELECT topic FROM carillon.event_relay WHERE project = :project AND name = :name
            """;

    // The rows are locked in one order. A row that another node has locked is about to be leased by it.
    private static final String LEASE = """
            WITH locked AS MATERIALIZED (
              SELECT w.project, w.name FROM unnest(:projects::text[], :names::text[]) AS w(project, name)
                CROSS JOIN LATERAL (SELECT 1 FROM carillon.event_relay
                                     WHERE project = w.project AND name BETWEEN w.name AND w.name
                                       AND (owner = :node OR owner IS NULL OR leased_until < carillon.clock())
                                     ORDER BY name LIMIT 1 FOR UPDATE SKIP LOCKED) r
               ORDER BY w.project, w.name)
            UPDATE carillon.event_relay r
               SET epoch = CASE WHEN r.owner = :node THEN r.epoch ELSE r.epoch + 1 END, owner = :node,
                   leased_until = carillon.clock() + make_interval(secs => :duration)
              FROM (SELECT * FROM locked LIMIT cardinality(:names::text[])) w
             WHERE r.project = w.project AND r.name = w.name
               AND (r.owner = :node OR r.owner IS NULL OR r.leased_until < carillon.clock())
            RETURNING r.project, r.name, r.epoch
            """;

    private static final String RELEASE = """
            UPDATE carillon.event_relay SET owner = NULL, leased_until = carillon.clock()
             WHERE (project, name) IN (SELECT * FROM unnest(:projects::text[], :names::text[])) AND owner = :node
            """;

    private static final String STATE = """
            SELECT r.cursor_snapshot, r.cursor_seq, t.oldest, t.latest,
                   EXISTS (SELECT 1 FROM carillon.event_relay_held h
                            WHERE h.project = r.project AND h.relay = r.name AND h.state IN ('retry',
                              'skip')) AS decided,
                   ARRAY(SELECT h.key FROM carillon.event_relay_held h
                          WHERE h.project = r.project AND h.relay = r.name AND h.state <> 'waiting' AND h.blocks
                          LIMIT :keys) AS blocked
              FROM carillon.event_relay r,
                   (SELECT CASE WHEN min(snapshot) > 1 THEN min(snapshot) ELSE 0 END AS oldest,
                           coalesce(max(snapshot), 0) AS latest
                      FROM carillon.event_snapshot) t
             WHERE r.project = :project AND r.name = :name AND r.epoch = :epoch
            """;

    private static final String READ = """
            SELECT * FROM (
              SELECT a.snapshot, a.seq, s.id, s.topic, s.type, s.key, s.version, s.published_at, s.schedule,
                s.planned_at, s.headers, s.codec, s.data,
                     sum(octet_length(s.data)) OVER (ORDER BY a.snapshot, a.seq) - octet_length(s.data) AS before
                FROM carillon.events_after(:base, :last, :snapshot, :afterSeq, :project, :topic, NULL, :limit) a
                CROSS JOIN LATERAL (SELECT * FROM carillon.event_store
                                     WHERE project = a.project AND id BETWEEN a.id AND a.id AND day = a.day
                                     ORDER BY id LIMIT 1) s) e
             WHERE before < :bytes ORDER BY snapshot, seq
            """;

    // The row with the cursor is written once, by its key and fence, and the insert reads its RETURNING.
    private static final String ADVANCE = """
            WITH moved AS (
              UPDATE carillon.event_relay
                 SET cursor_snapshot = :toSnapshot, cursor_seq = :toSeq, sent = sent + :sent,
                     sent_at = CASE WHEN :sent > 0 THEN carillon.clock() ELSE sent_at END,
                     failing_since = NULL, error = NULL
               WHERE project = :project AND name = :name AND epoch = :epoch
                 AND cursor_snapshot = :fromSnapshot AND cursor_seq = :fromSeq
              RETURNING project, name),
            held AS (
              INSERT INTO carillon.event_relay_held
                (project, relay, snapshot, seq, event, day, key, state, blocks, reason)
              SELECT m.project, m.name, h.snapshot, h.seq, h.event, h.day, h.key,
                     CASE WHEN h.reason IS NULL THEN 'waiting' ELSE 'rejected' END, h.blocks, h.reason
                FROM moved m, unnest(:snapshots::int8[], :seqs::int8[], :events::uuid[], :days::date[], :keys::text[],
                                     :blocks::bool[], :reasons::text[])
                     AS h(snapshot, seq, event, day, key, blocks, reason)
              ON CONFLICT DO NOTHING)
            SELECT 1 AS moved FROM moved
            """;

    private static final String IS_AT = """
            SELECT 1 AS at FROM carillon.event_relay
             WHERE project = :project AND name = :name AND epoch = :epoch
               AND cursor_snapshot = :snapshot AND cursor_seq = :seq
            """;

    private static final String REPORT = """
            UPDATE carillon.event_relay
               SET error = :error,
                   failing_since = CASE WHEN :error::text IS NOT NULL
                                        THEN coalesce(failing_since, carillon.clock()) END
             WHERE project = :project AND name = :name AND epoch = :epoch AND error IS DISTINCT FROM :error
            """;

    private static final String REMOVE = "DELETE FROM carillon.event_relay WHERE project = :project AND name = :name";

    private final Database database;
    private final HeldEvents held;
    private final RelayListing listing;

    public RelayRepository(Database database) {
        this.database = database;
        this.held = new HeldEvents(database);
        this.listing = new RelayListing(database);
    }

    private static Query name(Query query, Name relay) throws SQLException {
        return query.text("project", relay.project()).text("name", relay.name());
    }

    private static Query lease(Query query, Lease lease) throws SQLException {
        return name(query, lease.name()).number("epoch", lease.epoch());
    }

    @Override
    public void declare(Declaration declaration) {
        boolean changed = database.single(session -> name(session.query(CHANGE), declaration.name())
                        .text("topic", declaration.topic())
                        .text("destination", declaration.destination())
                        .update()
                > 0);
        if (changed) return;
        Optional<String> other = database.single(session -> {
            name(session.query(CREATE), declaration.name())
                    .text("topic", declaration.topic())
                    .text("destination", declaration.destination())
                    .number("snapshot", SubscriptionRepository.startSnapshot(database, declaration.start()))
                    .update();
            return name(session.query(TOPIC), declaration.name()).first(row -> row.text("topic"));
        });
        other.filter(topic -> !topic.equals(declaration.topic())).ifPresent(topic -> {
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    ("The relay '%s' sends the topic '%s' and cannot send '%s'. Give the new relay another name, or"
                                    + " remove the old one with relays().remove(…).")
                            .formatted(declaration.name().name(), topic, declaration.topic()));
        });
    }

    @Override
    public List<Lease> lease(UUID node, Collection<Name> wanted, Duration duration) {
        return database.single(session -> session.query(LEASE)
                .column("projects", "text", wanted, Name::project)
                .column("names", "text", wanted, Name::name)
                .uuid("node", node)
                .seconds("duration", duration)
                .list(row -> new Lease(new Name(row.text("project"), row.text("name")), row.number("epoch"))));
    }

    @Override
    public void release(UUID node, Collection<Name> relays) {
        database.single(session -> session.query(RELEASE)
                .column("projects", "text", relays, Name::project)
                .column("names", "text", relays, Name::name)
                .uuid("node", node)
                .update());
    }

    @Override
    public Optional<State> state(Lease lease) {
        return database.single(session -> lease(session.query(STATE), lease)
                .number("keys", MAX_BLOCKED_KEYS + 1)
                .first(row -> {
                    EventPosition cursor = cursor(row);
                    EventPosition oldest = EventPosition.endOf(row.number("oldest"));
                    return new State(
                            cursor,
                            oldest.isAfter(cursor) ? oldest : cursor,
                            row.number("latest"),
                            row.flag("decided"),
                            new HashSet<>(row.texts("blocked")));
                }));
    }

    static EventPosition cursor(Row row) throws SQLException {
        return new EventPosition(row.number("cursor_snapshot"), row.number("cursor_seq"));
    }

    static Query window(Query query, Name project, String topic, EventPosition after, long last) throws SQLException {
        return query.number("base", after.base())
                .number("last", last)
                .number("snapshot", after.snapshot())
                .number("afterSeq", after.seq())
                .text("project", project.project())
                .text("topic", topic);
    }

    @Override
    public List<Positioned> read(String project, String topic, Window window) {
        return database.single(
                session -> window(session.query(READ), new Name(project, ""), topic, window.after(), window.last())
                        .number("limit", window.maxEvents())
                        .number("bytes", window.maxBytes())
                        .list(RelayRepository::positioned));
    }

    static Positioned positioned(Row row) throws SQLException {
        return new Positioned(new EventPosition(row.number("snapshot"), row.number("seq")), EventReader.event(row));
    }

    @Override
    public boolean advance(Lease lease, Advance advance) {
        List<HeldEvent> rows = advance.held();
        boolean moved = database.single(session -> lease(session.query(ADVANCE), lease)
                .number("fromSnapshot", advance.from().snapshot())
                .number("fromSeq", advance.from().seq())
                .number("toSnapshot", advance.to().snapshot())
                .number("toSeq", advance.to().seq())
                .number("sent", advance.sent())
                .column("snapshots", "int8", rows, row -> row.position().snapshot())
                .column("seqs", "int8", rows, row -> row.position().seq())
                .column("events", "uuid", rows, row -> row.event().value())
                .column(
                        "days",
                        "date",
                        rows,
                        row -> EventToStore.dayOf(row.event()).toString())
                .column("keys", "text", rows, HeldEvent::key)
                .column("blocks", "bool", rows, HeldEvent::blocks)
                .column("reasons", "text", rows, HeldEvent::reason)
                .first(row -> true)
                .orElse(false));
        // Moved by a statement whose answer was lost.
        return moved || isAt(lease, advance.to());
    }

    private boolean isAt(Lease lease, EventPosition position) {
        return database.single(session -> lease(session.query(IS_AT), lease)
                .number("snapshot", position.snapshot())
                .number("seq", position.seq())
                .first(row -> true)
                .orElse(false));
    }

    @Override
    public void report(Lease lease, @Nullable String error) {
        database.single(session ->
                lease(session.query(REPORT), lease).text("error", error).update());
    }

    @Override
    public Optional<Decided> decided(Lease lease, @Nullable EventPosition at, int maxEvents, long maxBytes) {
        return held.decided(lease, at, maxEvents, maxBytes);
    }

    @Override
    public void removeHeld(Lease lease, List<EventPosition> rows, @Nullable EventPosition next, long sent) {
        held.remove(lease, rows, next, sent);
    }

    @Override
    public void rejectAgain(Lease lease, EventPosition position, String reason) {
        held.rejectAgain(lease, position, reason);
    }

    @Override
    public List<Relay> list(String project, String after, int limit) {
        return listing.list(project, after, limit);
    }

    @Override
    public Optional<Relay> find(Name relay) {
        return listing.find(relay);
    }

    @Override
    public List<Figures> figures() {
        return listing.figures();
    }

    @Override
    public List<Relay.Rejected> rejected(Name relay, int limit) {
        return held.rejected(relay, limit);
    }

    @Override
    public boolean decide(Name relay, EventId event, boolean retry) {
        return held.decide(relay, event, retry);
    }

    @Override
    public boolean remove(Name relay) {
        return database.single(session -> name(session.query(REMOVE), relay).update() > 0);
    }

    @Override
    public List<Issue> issues(Duration age) {
        return listing.issues(age);
    }
}
