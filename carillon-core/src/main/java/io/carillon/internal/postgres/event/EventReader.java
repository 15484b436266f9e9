package io.carillon.internal.postgres.event;

import io.carillon.event.Event;
import io.carillon.event.EventFilter;
import io.carillon.event.EventId;
import io.carillon.event.TopicInfo;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.store.event.EventDispatchStore.Head;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.EventStore.EventRead;
import io.carillon.internal.store.event.EventStore.PositionedEvent;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.value.EventHeaders;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The reads of events: by id, in the order of all consumers, and the newest ones. */
final class EventReader {
    /** One read examines at most about this many snapshots and events. */
    private static final int MAX_SNAPSHOTS = 20_000;

    private static final int MAX_EXAMINED = 20_000;
    private static final int MAX_WINDOW_SNAPSHOTS = 1_024;
    private static final int HEADS = 2_000;
    private static final int MAX_TOPICS = 1_000;

    /** One read returns about this much data, and at least one event. */
    private static final long MAX_BYTES = 4 * 1024 * 1024;

    private static final String COLUMNS =
            "id, topic, type, key, version, published_at, schedule, planned_at, headers, codec, data";

    private static final String FIND = "SELECT " + COLUMNS + """
             FROM carillon.event_store WHERE project = :project AND id = :id AND day = :day::date
            """;

    private static final String HEADS_AFTER = """
            SELECT * FROM carillon.events_after(:base, :last, :snapshot, :afterSeq, :project, :topic, :key, :limit)
            """;

    // The size of data is known without reading it. Events behind the most bytes are returned without data.
    private static final String FIND_ALL = """
            SELECT id, topic, type, key, version, published_at, schedule, planned_at, headers, codec,
                   CASE WHEN bytes_before < :bytes THEN data END AS data
              FROM (SELECT s.*, sum(octet_length(s.data)) OVER (ORDER BY e.ordinal) - octet_length(s.data)
                                  AS bytes_before
                      FROM unnest(:ids::uuid[], :days::date[]) WITH ORDINALITY AS e(id, day, ordinal)
                      CROSS JOIN LATERAL (SELECT * FROM carillon.event_store
                                           WHERE project = :project AND id BETWEEN e.id AND e.id AND day = e.day
                                           ORDER BY id LIMIT 1) s) sized
            """;

    private static final String LATEST = latest("");

    private static final String LATEST_OF_KEY = latest(" AND key = :key");

    private static String latest(String condition) {
        return """
                SELECT %2$s
                  FROM (SELECT f.*, sum(octet_length(data)) OVER (ORDER BY xid DESC, seq DESC) - octet_length(data)
                                      AS bytes_before
                          FROM (SELECT *
                                  FROM (SELECT * FROM carillon.event_store
                                         WHERE project = :project AND topic = :topic%1$s
                                         ORDER BY xid DESC, seq DESC LIMIT :examined) newest
                                 WHERE type LIKE :type ORDER BY xid DESC, seq DESC LIMIT :limit) f) sized
                 WHERE bytes_before < :bytes ORDER BY xid DESC, seq DESC
                """.formatted(condition, COLUMNS);
    }

    // After retention has removed snapshots, the oldest one is the first position. Before, it is snapshot 0.
    private static final String SNAPSHOT_RANGE = """
            SELECT CASE WHEN min(snapshot) > 1 THEN min(snapshot) ELSE 0 END AS oldest,
                   coalesce(max(snapshot), 0) AS latest
              FROM carillon.event_snapshot
            """;

    private static final String SNAPSHOT_BEFORE = """
            SELECT coalesce((SELECT max(snapshot) FROM carillon.event_snapshot WHERE stored_at < :at),
                            (SELECT min(snapshot) FROM carillon.event_snapshot HAVING min(snapshot) > 1), 0) AS snapshot
            """;

    // Each step finds the next topic by index. The events of the last minute are those that the last snapshot before it
    // does not contain; their number has a limit.
    private static final String TOPICS = """
            WITH RECURSIVE names AS (
              (SELECT topic FROM carillon.event_store WHERE project = :project ORDER BY topic LIMIT 1)
              UNION ALL
              SELECT (SELECT e.topic FROM carillon.event_store e WHERE e.project = :project AND e.topic > n.topic
                       ORDER BY e.topic LIMIT 1)
                FROM names n WHERE n.topic IS NOT NULL),
            recent AS (
              SELECT coalesce((SELECT pg_snapshot_xmax(t.transactions) FROM carillon.event_snapshot t
                                WHERE t.snapshot = :snapshot), '3'::xid8) AS xid OFFSET 0)
            SELECT n.topic, last.published_at,
                   (SELECT count(*) FROM (SELECT 1 FROM carillon.event_store e, recent r
                                           WHERE e.project = :project AND e.topic = n.topic AND e.xid >= r.xid
                                           LIMIT :limit) e) AS count
              FROM (SELECT topic FROM names WHERE topic IS NOT NULL LIMIT :topics) n
              CROSS JOIN LATERAL (SELECT e.published_at FROM carillon.event_store e
                                   WHERE e.project = :project AND e.topic = n.topic
                                   ORDER BY e.xid DESC LIMIT 1) last
             ORDER BY n.topic
            """;

    // A run that waits is found by the unique key that it has for each subscription, a run that ended by an index.
    private static final String DELIVERIES = """
            SELECT id FROM (
              SELECT r.id FROM carillon.event_subscription s
                CROSS JOIN LATERAL (SELECT id FROM carillon.run
                                     WHERE project = s.project AND target_name = s.target_name
                                       AND key = 'event:' || :event
                                                 || CASE WHEN s.target_name = s.name THEN '' ELSE ':' || s.name END
                                     ORDER BY key LIMIT 1) r
               WHERE s.project = :project
              UNION
              SELECT h.id FROM carillon.run_history h
               WHERE h.project = :project AND h.origin = 'event'
                 AND h.key >= 'event:' || :event AND h.key < 'event:' || :event || ';') all_runs
             ORDER BY id DESC LIMIT :limit
            """;

    private final Database database;

    EventReader(Database database) {
        this.database = database;
    }

    Optional<Event<Payload>> find(String project, EventId id) {
        return database.single(session -> session.query(FIND)
                .text("project", project)
                .uuid("id", id.value())
                .text("day", EventToStore.dayOf(id).toString())
                .first(EventReader::event));
    }

    static Event<Payload> event(Row row) throws SQLException {
        return new Event<>(
                new EventId(row.uuid("id")),
                row.text("topic"),
                row.text("type"),
                row.maybeText("key"),
                row.number("version"),
                row.instant("published_at"),
                row.maybeText("schedule"),
                row.maybeInstant("planned_at"),
                EventHeaders.parse(row.maybeText("headers")),
                new Payload(row.bytes("data"), row.text("codec")));
    }

    /** The oldest and the last snapshot. */
    record SnapshotRange(long oldest, long latest) {
        static SnapshotRange read(Session session) throws SQLException {
            return session.query(SNAPSHOT_RANGE)
                    .first(row -> new SnapshotRange(row.number("oldest"), row.number("latest")))
                    .orElseThrow();
        }
    }

    static long snapshotBefore(Session session, Instant at) throws SQLException {
        return session.query(SNAPSHOT_BEFORE)
                .instant("at", at)
                .first(row -> row.number("snapshot"))
                .orElseThrow();
    }

    EventPosition end() {
        return database.single(
                session -> EventPosition.endOf(SnapshotRange.read(session).latest()));
    }

    EventPosition before(Instant at) {
        return database.single(session -> EventPosition.endOf(snapshotBefore(session, at)));
    }

    /** What one read looks for. */
    private record Search(String project, EventFilter filter, int limit) {}

    /**
     * Reads windows of snapshots whose size doubles while they have few events: a rare topic needs few queries, and a
     * frequent one reads few events that it does not show.
     */
    EventRead read(String project, EventFilter filter, EventPosition after, int limit) {
        return database.single(session -> read(session, new Search(project, filter, limit), after));
    }

    private static EventRead read(Session session, Search search, EventPosition after) throws SQLException {
        SnapshotRange range = SnapshotRange.read(session);
        EventPosition oldest = EventPosition.endOf(range.oldest());
        EventPosition from = oldest.isAfter(after) ? oldest : after;
        long stop = Math.min(range.latest(), from.base() + MAX_SNAPSHOTS);
        List<Head> found = new ArrayList<>();
        int examined = 0;
        long size = 16;
        while (found.size() < search.limit() && from.base() < stop && examined < MAX_EXAMINED) {
            long last = Math.min(stop, from.base() + size);
            int wanted = search.filter().type() == null ? Math.min(HEADS, search.limit() - found.size()) : HEADS;
            List<Head> heads = heads(session, search, from, last, wanted);
            examined += heads.size();
            EventPosition read = heads.size() < wanted ? EventPosition.endOf(last) : last(heads);
            for (Head head : heads) {
                if (found.size() == search.limit()) break;
                if (search.filter().selectsType(head.type())) found.add(head);
                if (found.size() == search.limit()) read = head.position();
            }
            if (heads.size() < HEADS / 4) size = Math.min(MAX_WINDOW_SNAPSHOTS, 2 * size);
            else if (heads.size() == wanted) size = Math.max(1, size / 2);
            from = read;
        }
        List<PositionedEvent> events = new ArrayList<>();
        Map<EventId, Optional<Event<Payload>>> data = withData(session, search.project(), found);
        for (Head head : found) {
            // An event that retention has removed meanwhile is left out.
            if (!data.containsKey(head.id())) continue;
            Optional<Event<Payload>> event = data.get(head.id());
            if (event.isEmpty())
                return new EventRead(events, events.get(events.size() - 1).position(), false);
            events.add(new PositionedEvent(head.position(), event.get()));
        }
        return new EventRead(events, from, found.size() < search.limit() && from.base() >= range.latest());
    }

    private static EventPosition last(List<Head> heads) {
        return heads.get(heads.size() - 1).position();
    }

    private static List<Head> heads(Session session, Search search, EventPosition after, long last, int limit)
            throws SQLException {
        return session.query(HEADS_AFTER)
                .number("base", after.base())
                .number("last", last)
                .number("snapshot", after.snapshot())
                .number("afterSeq", after.seq())
                .text("project", search.project())
                .text("topic", search.filter().topic())
                .text("key", search.filter().key())
                .number("limit", limit)
                .list(EventDispatchRepository::head);
    }

    /** Returns the events; empty values for those that would make the result too large. */
    private static Map<EventId, Optional<Event<Payload>>> withData(Session session, String project, List<Head> heads)
            throws SQLException {
        Map<EventId, Optional<Event<Payload>>> byId = new HashMap<>();
        if (heads.isEmpty()) return byId;
        session.query(FIND_ALL)
                .column("ids", "uuid", heads, head -> head.id().value())
                .column(
                        "days",
                        "date",
                        heads,
                        head -> EventToStore.dayOf(head.id()).toString())
                .text("project", project)
                .number("bytes", MAX_BYTES)
                .list(row -> byId.put(
                        new EventId(row.uuid("id")),
                        row.maybeBytes("data") == null ? Optional.empty() : Optional.of(event(row))));
        return byId;
    }

    /** Examines more events if a type is wanted, up to a limit. */
    List<Event<Payload>> latest(String project, EventFilter filter, int limit) {
        String type = filter.type();
        return database.single(session -> {
            var query = session.query(filter.key() == null ? LATEST : LATEST_OF_KEY)
                    .text("project", project)
                    .text("topic", filter.topic())
                    .text("type", SubscriptionRepository.like(type == null ? "*" : type))
                    .number("examined", type == null ? limit : MAX_EXAMINED / 4)
                    .number("limit", limit)
                    .number("bytes", MAX_BYTES);
            if (filter.key() != null) query = query.text("key", filter.key());
            return query.list(EventReader::event);
        });
    }

    List<TopicInfo> topics(String project) {
        return database.single(session -> {
            Instant minuteAgo = session.query("SELECT carillon.clock() - interval '1 minute' AS at")
                    .first(row -> row.instant("at"))
                    .orElseThrow();
            return session.query(TOPICS)
                    .text("project", project)
                    .number("snapshot", snapshotBefore(session, minuteAgo))
                    .number("limit", TopicInfo.MAX_COUNT)
                    .number("topics", MAX_TOPICS)
                    .list(row -> new TopicInfo(row.text("topic"), row.number("count"), row.instant("published_at")));
        });
    }

    List<RunId> deliveries(String project, EventId event, int limit) {
        return database.single(session -> session.query(DELIVERIES)
                .text("project", project)
                .text("event", event.value().toString())
                .number("limit", limit)
                .list(row -> new RunId(row.uuid("id"))));
    }
}
