package io.carillon.internal.postgres.event;

import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.event.Event;
import io.carillon.event.EventFilter;
import io.carillon.event.EventId;
import io.carillon.event.PublishResult;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionChange;
import io.carillon.event.TopicInfo;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.GroupCommit;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.EventStore;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.value.EventHeaders;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Publishes and reads events. A publish inserts its events and locks nothing, unless a topic has versions. */
public final class EventRepository implements EventStore {
    private static final int CHUNK = 2_000;
    private static final int MAX_TRIES = 3;

    // The inserts take their seq in the given order. Without a number of the transaction a new epoch must begin.
    private static final String PUBLISH = """
            WITH stored AS (
              INSERT INTO carillon.event_store (project, id, day, xid, topic, type, key, codec, data, version, headers)
              SELECT e.project, e.id, e.day, x.xid, e.topic, e.type, e.key, e.codec, e.data, e.version,
                     e.headers
                FROM (SELECT carillon.event_xid() AS xid OFFSET 0) x,
                     unnest(:projects::text[], :ids::uuid[], :days::date[], :topics::text[], :types::text[],
                       :keys::text[], :codecs::text[], :datas::bytea[], :versions::int8[], :headers::text[])
                       WITH ORDINALITY AS e(project, id, day, topic, type, key, codec, data, version, headers,
                         ordinal)
               WHERE x.xid IS NOT NULL
               ORDER BY e.ordinal
              ON CONFLICT DO NOTHING RETURNING id, version),
            notifications AS (
              SELECT pg_notify('carillon', 'events ' || mod(pg_current_xact_id()::text::bigint, 100000))
               WHERE :notifyNodes AND EXISTS (SELECT 1 FROM stored))
            SELECT id, version, (SELECT count(*) FROM notifications) FROM stored
            """;

    private static final String FIND_PUBLISHED = """
            SELECT s.id, s.version
              FROM unnest(:projects::text[], :ids::uuid[], :days::date[]) AS e(project, id, day)
              CROSS JOIN LATERAL (SELECT id, version FROM carillon.event_store
                                   WHERE project = e.project AND id BETWEEN e.id AND e.id AND day = e.day
                                   ORDER BY id LIMIT 1) s
            """;

    // The lock on the row holds until the transaction ends, so the events of a key commit in the order of its versions.
    private static final String ADVANCE_VERSION = """
            INSERT INTO carillon.event_key_version AS s (project, topic, key, version)
            SELECT :project, :topic, :key, 1
             WHERE coalesce(:expected::int8, 0) = 0
                OR EXISTS (SELECT 1 FROM carillon.event_key_version
                            WHERE project = :project AND topic = :topic AND key = :key)
            ON CONFLICT (project, topic, key) DO UPDATE SET version = s.version + 1
             WHERE s.version = coalesce(:expected::int8, s.version)
            RETURNING version
            """;

    private static final String KEY_VERSION = """
            SELECT version FROM carillon.event_key_version WHERE project = :project AND topic = :topic AND key = :key
            """;

    private static final String BEGIN_EPOCH =
            "/* INSERT INTO carillon.event_epoch */ SELECT 1 AS done FROM carillon.begin_event_epoch()";

    // Inserted for the day before and the day of the event, so that the same id on consecutive days conflicts.
    private static final String TAKE_PUBLISH_IDS = """
            WITH ids AS (
              SELECT * FROM unnest(:projects::text[], :publishIds::text[], :ids::uuid[], :days::date[])
                AS i(project, publish_id, event_id, day)),
            earlier AS (
              INSERT INTO carillon.event_publish_id (project, publish_id, day, event_id)
              SELECT project, publish_id, day - 1, event_id FROM ids ORDER BY project, publish_id
              ON CONFLICT DO NOTHING RETURNING project, publish_id, event_id)
            INSERT INTO carillon.event_publish_id (project, publish_id, day, event_id)
            SELECT i.project, i.publish_id, i.day, i.event_id
              FROM ids i JOIN earlier e USING (project, publish_id, event_id) ORDER BY i.project, i.publish_id
            ON CONFLICT DO NOTHING
            """;

    private static final String FIND_PUBLISH_IDS = """
            SELECT i.number, p.event_id
              FROM unnest(:projects::text[], :publishIds::text[], :days::date[])
                WITH ORDINALITY AS i(project, publish_id, day, number)
              CROSS JOIN LATERAL (SELECT event_id FROM carillon.event_publish_id
                                   WHERE project = i.project AND publish_id = i.publish_id
                                     AND day IN (i.day, i.day - 1)
                                   ORDER BY day DESC LIMIT 1) p
            """;

    private final Database database;
    private final Database epochDatabase;
    private final Partitions partitions;
    private final EventDays days;
    private final EventCopy copy;
    private final EventReader reader;
    private final SubscriptionRepository subscriptions;
    private final GroupCommit<EventToStore, PublishResult> withoutNotify;
    private final GroupCommit<EventToStore, PublishResult> withNotify;

    /** {@code epochDatabase} begins a new epoch, outside the transaction of a caller. */
    public EventRepository(Database database, Database epochDatabase, Partitions partitions, EventDays days) {
        this.database = database;
        this.epochDatabase = epochDatabase;
        this.partitions = partitions;
        this.days = days;
        this.copy = new EventCopy(database);
        this.reader = new EventReader(database);
        this.subscriptions = new SubscriptionRepository(database, epochDatabase);
        this.withoutNotify = new GroupCommit<>(2, events -> publishGroup(events, false));
        this.withNotify = new GroupCommit<>(1, events -> publishGroup(events, true));
    }

    @Override
    public List<PublishResult> publish(List<EventToStore> events, boolean notifyNodes) {
        boolean checked = events.stream().anyMatch(event -> event.versioned() || event.publishId() != null);
        if (database.isInCallerTransaction()) {
            days.ensure(events);
            return checked
                    ? database.transaction(session -> publishChecked(session, events, notifyNodes))
                    : database.single(session -> insert(session, events, new Checked(), notifyNodes));
        }
        if (checked)
            return partitions.creatingMissing(
                    () -> database.transaction(session -> publishChecked(session, events, notifyNodes)));
        if (events.size() == 1) return List.of((notifyNodes ? withNotify : withoutNotify).submit(events.get(0)));
        return publishGroup(events, notifyNodes);
    }

    private List<PublishResult> publishGroup(List<EventToStore> events, boolean notifyNodes) {
        if (EventCopy.supports(events) && partitions.creatingMissing(() -> copy.store(events, notifyNodes)))
            return events.stream()
                    .<PublishResult>map(event -> new PublishResult.Published(event.id(), 0))
                    .toList();
        return partitions.creatingMissing(() -> events.size() <= CHUNK
                ? database.single(session -> insert(session, events, new Checked(), notifyNodes))
                : database.transaction(session -> insert(session, events, new Checked(), notifyNodes)));
    }

    /**
     * What was decided before the insert.
     *
     * @param versions the versions that the events shall have
     * @param duplicates the events that are not stored, with the ones that were stored before under their publish ids
     */
    private record Checked(Map<EventId, Long> versions, Map<EventId, EventId> duplicates) {
        Checked() {
            this(new HashMap<>(), new HashMap<>());
        }
    }

    /**
     * Takes the publish ids, then locks the keys of all events, both in one order, then inserts the events. One version
     * conflict rolls everything back.
     */
    private List<PublishResult> publishChecked(Session session, List<EventToStore> events, boolean notifyNodes)
            throws SQLException {
        Checked checked = new Checked();
        checked.versions().putAll(findPublished(session, events));
        Savepoint before = session.connection().setSavepoint();
        List<EventToStore> missing = without(events, checked.versions());
        takePublishIds(session, missing, checked);
        List<EventToStore> locked = missing.stream()
                .filter(event -> event.versioned() && !checked.duplicates().containsKey(event.id()))
                .sorted(Comparator.comparing(EventToStore::topic).thenComparing(event -> requireNonNull(event.key())))
                .toList();
        for (EventToStore event : locked) {
            Optional<Long> version = bindKey(session.query(ADVANCE_VERSION), event)
                    .number("expected", event.expectedVersion())
                    .first(row -> row.number("version"));
            if (version.isEmpty()) {
                long actual = bindKey(session.query(KEY_VERSION), event)
                        .first(row -> row.number("version"))
                        .orElse(0L);
                session.connection().rollback(before);
                PublishResult conflict = new PublishResult.VersionConflict(
                        requireNonNull(event.key()), requireNonNull(event.expectedVersion()), actual);
                return events.stream().map(each -> conflict).toList();
            }
            checked.versions().put(event.id(), version.get());
        }
        session.connection().releaseSavepoint(before);
        return insert(session, events, checked, notifyNodes);
    }

    /** A statement waits for a transaction that has taken the same id; the next one sees what it has stored. */
    private static void takePublishIds(Session session, List<EventToStore> events, Checked checked)
            throws SQLException {
        List<EventToStore> named =
                events.stream().filter(event -> event.publishId() != null).toList();
        if (named.isEmpty()) return;
        bindPublishIds(session.query(TAKE_PUBLISH_IDS), named)
                .column("ids", "uuid", named, event -> event.id().value())
                .update();
        bindPublishIds(session.query(FIND_PUBLISH_IDS), named).list(row -> {
            EventId mine = named.get((int) row.number("number") - 1).id();
            EventId stored = new EventId(row.uuid("event_id"));
            return stored.equals(mine) || checked.duplicates().put(mine, stored) == null;
        });
    }

    private static Query bindPublishIds(Query query, List<EventToStore> events) throws SQLException {
        return query.column("projects", "text", events, EventToStore::project)
                .column("publishIds", "text", events, EventToStore::publishId)
                .column("days", "date", events, event -> event.day().toString());
    }

    private static Query bindKey(Query query, EventToStore event) throws SQLException {
        return query.text("project", event.project())
                .text("topic", event.topic())
                .text("key", requireNonNull(event.key()));
    }

    private List<PublishResult> insert(Session session, List<EventToStore> events, Checked checked, boolean notifyNodes)
            throws SQLException {
        List<EventToStore> wanted = without(events, checked.duplicates());
        Map<EventId, Long> stored = new HashMap<>();
        for (int from = 0; from < wanted.size(); from += CHUNK)
            insertChunk(
                    session,
                    wanted.subList(from, Math.min(wanted.size(), from + CHUNK)),
                    new Versions(checked.versions(), stored),
                    notifyNodes);
        return events.stream()
                .<PublishResult>map(event -> {
                    EventId first = checked.duplicates().get(event.id());
                    return first == null
                            ? new PublishResult.Published(event.id(), requireNonNull(stored.get(event.id())))
                            : new PublishResult.Duplicate(first);
                })
                .toList();
    }

    /** The version that each event shall have, and the one with which it was stored. */
    private record Versions(Map<EventId, Long> wanted, Map<EventId, Long> stored) {}

    private void insertChunk(Session session, List<EventToStore> events, Versions versions, boolean notifyNodes)
            throws SQLException {
        List<EventToStore> remaining = events;
        for (int tries = 0; ; tries++) {
            bindKeys(session.query(PUBLISH), remaining)
                    .column("topics", "text", remaining, EventToStore::topic)
                    .column("types", "text", remaining, EventToStore::type)
                    .column("keys", "text", remaining, EventToStore::key)
                    .column("codecs", "text", remaining, event -> event.data().codec())
                    .column("datas", "bytea", remaining, event -> event.data().bytes())
                    .column(
                            "versions",
                            "int8",
                            remaining,
                            event -> versions.wanted().getOrDefault(event.id(), 0L))
                    .column("headers", "text", remaining, event -> EventHeaders.toJson(event.headers()))
                    .flag("notifyNodes", notifyNodes)
                    .list(row -> versions.stored().put(new EventId(row.uuid("id")), row.number("version")));
            remaining = without(remaining, versions.stored());
            if (remaining.isEmpty()) return;
            // Stored by a statement whose answer was lost, or not stored because a new epoch must begin.
            versions.stored().putAll(findPublished(session, remaining));
            remaining = without(remaining, versions.stored());
            if (remaining.isEmpty()) return;
            if (tries == MAX_TRIES)
                throw new CarillonException(
                        ErrorCode.STORAGE,
                        "Events cannot be published: the transaction numbers of the server are behind those of the"
                                + " stored events, and no new epoch could begin. Try again.");
            epochDatabase.single(other -> other.query(BEGIN_EPOCH).list(row -> row.integer("done")));
        }
    }

    private static List<EventToStore> without(List<EventToStore> events, Map<EventId, ?> known) {
        return events.stream().filter(event -> !known.containsKey(event.id())).toList();
    }

    private static Map<EventId, Long> findPublished(Session session, List<EventToStore> events) throws SQLException {
        Map<EventId, Long> found = new HashMap<>();
        bindKeys(session.query(FIND_PUBLISHED), events)
                .list(row -> found.put(new EventId(row.uuid("id")), row.number("version")));
        return found;
    }

    private static Query bindKeys(Query query, List<EventToStore> events) throws SQLException {
        return query.column("projects", "text", events, EventToStore::project)
                .column("ids", "uuid", events, event -> event.id().value())
                .column("days", "date", events, event -> event.day().toString());
    }

    @Override
    public Optional<Event<Payload>> find(String project, EventId id) {
        return reader.find(project, id);
    }

    @Override
    public EventRead read(String project, EventFilter filter, EventPosition after, int limit) {
        return reader.read(project, filter, after, limit);
    }

    @Override
    public List<Event<Payload>> latest(String project, EventFilter filter, int limit) {
        return reader.latest(project, filter, limit);
    }

    @Override
    public EventPosition end() {
        return reader.end();
    }

    @Override
    public EventPosition before(Instant at) {
        return reader.before(at);
    }

    @Override
    public List<TopicInfo> topics(String project) {
        return reader.topics(project);
    }

    @Override
    public List<RunId> deliveries(String project, EventId id, int limit) {
        return reader.deliveries(project, id, limit);
    }

    @Override
    public SubscriptionChange declare(Declaration declaration, @Nullable Long expectedVersion) {
        return subscriptions.declare(declaration, expectedVersion);
    }

    @Override
    public List<Subscription> subscriptions(String project, String after, int limit) {
        return subscriptions.list(project, after, limit);
    }

    @Override
    public Optional<Subscription> subscription(String project, String name) {
        return subscriptions.find(project, name);
    }

    @Override
    public List<Behind> behind(boolean paused, Duration age) {
        return subscriptions.behind(paused, age);
    }

    @Override
    public boolean pause(String project, String name, String reason, @Nullable String by) {
        return subscriptions.pause(project, name, reason, by);
    }

    @Override
    public boolean resume(String project, String name) {
        return subscriptions.resume(project, name);
    }

    @Override
    public void replay(Replay replay) {
        subscriptions.replay(replay);
    }

    @Override
    public boolean skip(String project, String name, EventId event) {
        return subscriptions.skip(project, name, event);
    }

    @Override
    public boolean remove(String project, String name) {
        return subscriptions.remove(project, name);
    }
}
