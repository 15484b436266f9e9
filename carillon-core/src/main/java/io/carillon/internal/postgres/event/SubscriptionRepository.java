package io.carillon.internal.postgres.event;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.event.CloudEventMode;
import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.Subscribe;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionChange;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.EventStore;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.value.Names;
import io.carillon.run.Priority;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions. Each change locks the row of the subscription in a statement of its own first. The dispatcher does
 * not wait for this lock: a subscription that it finds locked continues with a cursor of its own.
 */
final class SubscriptionRepository {
    /** The handler of webhooks, which gets the events of subscriptions with an endpoint. */
    private static final String WEBHOOK_HANDLER = "webhook";

    private static final int MAX_REPLAYS = 100;

    // A snapshot was stored before. The subscription starts behind it: with the events that commit later.
    private static final String CREATE = """
            WITH created AS (
              INSERT INTO carillon.event_subscription (project, name, topic_pattern, type_pattern, in_order,
                target_name, endpoint, mode, queue, priority, owner)
              VALUES (:project, :name, :topic, :type, :inOrder, :target, :endpoint, :mode, :queue, :priority, :owner)
              ON CONFLICT (project, name) DO NOTHING RETURNING project, name, version, cursor_number),
            cursors AS (
              INSERT INTO carillon.event_cursor (project, name, replay, snapshot, seq)
              SELECT project, name, cursor_number, :snapshot, 9223372036854775807 FROM created)
            SELECT version FROM created
            """;

    private static final String CHANGE = """
            UPDATE carillon.event_subscription
               SET version = version + 1, topic_pattern = :topic, type_pattern = :type, in_order = :inOrder,
                   target_name = :target, endpoint = :endpoint, mode = :mode, queue = :queue, priority = :priority,
                   owner = :owner
             WHERE project = :project AND name = :name
               AND (topic_pattern, type_pattern, in_order, target_name, endpoint, mode, queue, priority, owner)
                   IS DISTINCT FROM (:topic, :type, :inOrder, :target, :endpoint::text, :mode::text, :queue,
                                     :priority::smallint, :owner)
            RETURNING version
            """;

    private static final String LOCK = """
            SELECT version FROM carillon.event_subscription WHERE project = :project AND name = :name FOR UPDATE
            """;

    private static final String SELECT = """
            SELECT s.*, coalesce(c.snapshot, d.snapshot) AS cursor_snapshot, coalesce(c.seq, d.seq) AS cursor_seq,
                   (SELECT count(*) FROM carillon.event_cursor r
                     WHERE r.project = s.project AND r.name = s.name AND r.replay > 0) AS replays
              FROM carillon.event_dispatch d, carillon.event_subscription s
              LEFT JOIN carillon.event_cursor c
                     ON c.project = s.project AND c.name = s.name AND c.replay = s.cursor_number
             WHERE s.project = :project
            """;

    private static final String LIST = SELECT + " AND s.name > :after ORDER BY s.name LIMIT :limit";

    private static final String FIND = SELECT + " AND s.name = :name";

    // The number of examined events has a limit, so that the count costs the same for any lag. Each step finds the next
    // topic with the prefix by index: events of other topics and projects are not examined.
    private static final String LAG = """
            WITH RECURSIVE names AS (
              (SELECT topic FROM carillon.event_store
                WHERE project = :project AND topic >= :firstTopic ORDER BY topic LIMIT 1)
              UNION ALL
              SELECT (SELECT e.topic FROM carillon.event_store e WHERE e.project = :project AND e.topic > n.topic
                       ORDER BY e.topic LIMIT 1)
                FROM names n WHERE n.topic LIKE :topic)
            SELECT count(*) AS count, min(published_at) AS oldest
              FROM (SELECT e.type, e.published_at
                      FROM (SELECT topic FROM names WHERE topic LIKE :topic LIMIT 1000) n
                      CROSS JOIN LATERAL carillon.some_events_after(
                        :base, :last, :snapshot, :seq, :project, n.topic, :limit) e
                     LIMIT :limit) e
             WHERE type LIKE ANY (:types::text[])
            """;

    // The next snapshot tells how long the cursor has not moved; the events behind it are read only then.
    private static final String MAYBE_BEHIND = """
            SELECT s.project, s.name, s.topic_pattern, s.type_pattern, s.snapshot, s.seq
              FROM (SELECT s.project, s.name, s.topic_pattern, s.type_pattern, s.paused_at, c.snapshot, c.seq
                      FROM carillon.event_cursor c
                      JOIN carillon.event_subscription s
                        ON s.project = c.project AND s.name = c.name AND s.cursor_number = c.replay
                    UNION ALL
                    SELECT s.project, s.name, s.topic_pattern, s.type_pattern, s.paused_at, d.snapshot, d.seq
                      FROM (SELECT * FROM carillon.event_dispatch d
                             WHERE EXISTS (SELECT 1 FROM carillon.event_snapshot t
                                            WHERE t.snapshot = d.snapshot + 1
                                              AND t.stored_at < carillon.clock() - make_interval(secs => :age))) d
                      CROSS JOIN carillon.event_subscription s) s
             WHERE (s.paused_at IS NOT NULL) = :paused
               AND EXISTS (SELECT 1 FROM carillon.event_snapshot t
                            WHERE t.snapshot = s.snapshot + 1
                              AND t.stored_at < carillon.clock() - make_interval(secs => :age))
             ORDER BY s.snapshot LIMIT 100
            """;

    private static final String PAUSE = """
            UPDATE carillon.event_subscription
               SET version = version + 1, paused_at = carillon.clock(), paused_reason = :reason, paused_by = :by
             WHERE project = :project AND name = :name AND paused_at IS NULL
            """;

    private static final String RESUME = """
            UPDATE carillon.event_subscription
               SET version = version + 1, paused_at = NULL, paused_reason = NULL, paused_by = NULL
             WHERE project = :project AND name = :name AND paused_at IS NOT NULL
            """;

    // The caller gives the number, so that repeating a statement whose answer was lost creates no second replay.
    private static final String REPLAY = """
            INSERT INTO carillon.event_cursor (project, name, replay, snapshot, seq, ends_at_snapshot)
            SELECT :project, :name, :replay, :snapshot, 9223372036854775807, :last
             WHERE (SELECT count(*) FROM carillon.event_cursor
                     WHERE project = :project AND name = :name AND replay > 0 AND replay <> :replay) < :most
            ON CONFLICT (project, name, replay) DO UPDATE SET ends_at_snapshot = excluded.ends_at_snapshot
            """;

    // An event that has a position behind the place of the subscription has no run yet; so has one that no snapshot
    // contains.
    private static final String SKIP = """
            UPDATE carillon.event_subscription s
               SET version = version + 1, skipped = s.skipped || :event::uuid
              FROM (SELECT coalesce(c.snapshot, d.snapshot) AS snapshot, coalesce(c.seq, d.seq) AS seq
                      FROM carillon.event_dispatch d
                      LEFT JOIN carillon.event_cursor c
                             ON c.project = :project AND c.name = :name
                            AND c.replay = (SELECT cursor_number FROM carillon.event_subscription
                                             WHERE project = :project AND name = :name)) place
             WHERE s.project = :project AND s.name = :name AND (:event::uuid) <> ALL (s.skipped)
               AND cardinality(s.skipped) < 1000
               AND EXISTS (SELECT 1 FROM carillon.event_store e
                            WHERE e.project = :project AND e.id = :event::uuid AND e.day = :day::date
                              AND NOT EXISTS (SELECT 1 FROM carillon.event_snapshot t
                                               WHERE t.snapshot = CASE WHEN place.seq = 9223372036854775807
                                                                     OR e.seq <= place.seq
                                                                   THEN place.snapshot ELSE place.snapshot - 1 END
                                                 AND pg_visible_in_snapshot(e.xid, t.transactions)))
            """;

    private static final String REMOVE = """
            WITH cursors AS (DELETE FROM carillon.event_cursor WHERE project = :project AND name = :name)
            DELETE FROM carillon.event_subscription WHERE project = :project AND name = :name
            """;

    private final Database database;
    private final Database ownTransaction;

    /**
     * {@code ownTransaction} stores snapshots outside the transaction of a caller, for which the other nodes would
     * wait.
     */
    SubscriptionRepository(Database database, Database ownTransaction) {
        this.database = database;
        this.ownTransaction = ownTransaction;
    }

    SubscriptionChange declare(EventStore.Declaration declaration, @Nullable Long expected) {
        SubscriptionDefinition definition = declaration.definition();
        boolean exists = find(declaration.project(), definition.name()).isPresent();
        long snapshot =
                exists ? 0 : startSnapshot(ownTransaction, definition.options().start());
        return database.transaction(session -> {
            Optional<Long> version = lock(session, declaration.project(), definition.name());
            if (expected != null && !expected.equals(version.orElse(0L)))
                return new SubscriptionChange.VersionConflict(expected, version.orElse(0L));
            if (version.isPresent())
                return bind(session.query(CHANGE), declaration)
                        .first(row -> (SubscriptionChange) new SubscriptionChange.Updated(row.number("version")))
                        .orElseGet(() -> new SubscriptionChange.Unchanged(version.get()));
            return bind(session.query(CREATE), declaration)
                    .number("snapshot", snapshot)
                    .first(row -> (SubscriptionChange) new SubscriptionChange.Created(row.number("version")))
                    // Another transaction has just created it.
                    .orElseGet(() -> expected == null
                            ? new SubscriptionChange.Unchanged(1)
                            : new SubscriptionChange.VersionConflict(expected, 1));
        });
    }

    private static Optional<Long> lock(Session session, String project, String name) throws SQLException {
        return session.query(LOCK).text("project", project).text("name", name).first(row -> row.number("version"));
    }

    private static Query bind(Query query, EventStore.Declaration declaration) throws SQLException {
        SubscriptionDefinition definition = declaration.definition();
        String queue = definition.queue();
        query = query.text("project", declaration.project())
                .text("name", definition.name())
                .text("topic", definition.pattern().topic())
                .text("type", String.join(",", definition.pattern().types()))
                .flag("inOrder", definition.options().isOrdered())
                .number("priority", definition.priority().number())
                .text("owner", declaration.owner().text());
        if (definition.target() instanceof SubscriptionTarget.Endpoint endpoint)
            return query.text("target", WEBHOOK_HANDLER)
                    .text("endpoint", endpoint.name())
                    .text("mode", endpoint.mode().text())
                    .text("queue", Names.ENDPOINT_QUEUE_PREFIX + endpoint.name());
        String handler = ((SubscriptionTarget.Handler) definition.target()).name();
        return query.text("target", handler)
                .text("endpoint", null)
                .text("mode", null)
                .text("queue", queue == null ? handler : queue);
    }

    static long startSnapshot(Database database, Subscribe.Start start) {
        return database.single(session -> {
            if (start instanceof Subscribe.Start.Now)
                return session.query(EventDispatchRepository.STORE_SNAPSHOT)
                        .first(row -> row.number("snapshot"))
                        .orElseThrow();
            if (start instanceof Subscribe.Start.At at) return EventReader.snapshotBefore(session, at.instant());
            return EventReader.SnapshotRange.read(session).oldest();
        });
    }

    List<Subscription> list(String project, String after, int limit) {
        return read(LIST, project, query -> query.text("after", after).number("limit", limit));
    }

    Optional<Subscription> find(String project, String name) {
        return read(FIND, project, query -> query.text("name", name)).stream().findFirst();
    }

    private List<Subscription> read(String sql, String project, Binding binding) {
        return database.single(session -> {
            long latest = EventReader.SnapshotRange.read(session).latest();
            return binding.bind(session.query(sql).text("project", project)).list(row -> {
                SubscriptionDefinition definition = definition(row);
                Instant pausedAt = row.maybeInstant("paused_at");
                return new Subscription(
                        definition,
                        row.number("version"),
                        Subscription.Owner.valueOf(row.text("owner").toUpperCase(Locale.ROOT)),
                        row.instant("created_at"),
                        pausedAt == null
                                ? null
                                : new Subscription.Pause(
                                        pausedAt, row.maybeText("paused_by"), row.maybeText("paused_reason")),
                        lag(
                                session,
                                project,
                                definition.pattern(),
                                new EventPosition(row.number("cursor_snapshot"), row.number("cursor_seq")),
                                latest),
                        (int) row.number("replays"));
            });
        });
    }

    private static SubscriptionDefinition definition(Row row) throws SQLException {
        String endpoint = row.maybeText("endpoint");
        SubscriptionTarget target = endpoint == null
                ? new SubscriptionTarget.Handler(row.text("target_name"))
                : new SubscriptionTarget.Endpoint(
                        endpoint, CloudEventMode.valueOf(row.text("mode").toUpperCase(Locale.ROOT)));
        return new SubscriptionDefinition(
                row.text("name"),
                pattern(row),
                target,
                row.flag("in_order") ? Subscribe.inOrder() : Subscribe.inAnyOrder(),
                row.text("queue"),
                Priority.of((int) row.number("priority")));
    }

    private static EventPattern pattern(Row row) throws SQLException {
        return EventPattern.of(
                row.text("topic_pattern"), row.text("type_pattern").split(","));
    }

    /** Counts the events behind a position that match a pattern. */
    static Subscription.Lag lag(Session session, String project, EventPattern pattern, EventPosition after, long latest)
            throws SQLException {
        if (after.base() >= latest) return new Subscription.Lag(0, null);
        return session.query(LAG)
                .number("base", after.base())
                .number("last", latest)
                .number("snapshot", after.snapshot())
                .number("seq", after.seq())
                .number("limit", Subscription.Lag.MAX_COUNT)
                .text("project", project)
                .text("firstTopic", pattern.topic().replace("*", ""))
                .text("topic", like(pattern.topic()))
                .texts(
                        "types",
                        pattern.types().stream()
                                .map(SubscriptionRepository::like)
                                .toList())
                .first(row -> new Subscription.Lag(row.number("count"), row.maybeInstant("oldest")))
                .orElseThrow();
    }

    /** Returns the pattern in the syntax of LIKE. Names contain no percent sign and no backslash. */
    static String like(String pattern) {
        return pattern.replace("_", "\\_").replace('*', '%');
    }

    static Instant now(Session session) throws SQLException {
        return session.query("SELECT carillon.clock() AS now")
                .first(row -> row.instant("now"))
                .orElseThrow();
    }

    List<EventStore.Behind> behind(boolean paused, Duration age) {
        return database.single(session -> {
            Instant limit = now(session).minus(age);
            long latest = EventReader.SnapshotRange.read(session).latest();
            List<EventStore.Behind> behind = new ArrayList<>();
            session.query(MAYBE_BEHIND)
                    .flag("paused", paused)
                    .seconds("age", age)
                    .list(row -> {
                        Instant oldest = lag(
                                        session,
                                        row.text("project"),
                                        pattern(row),
                                        new EventPosition(row.number("snapshot"), row.number("seq")),
                                        latest)
                                .oldest();
                        return oldest != null
                                && oldest.isBefore(limit)
                                && behind.add(new EventStore.Behind(row.text("project"), row.text("name"), oldest));
                    });
            return behind;
        });
    }

    boolean pause(String project, String name, String reason, @Nullable String by) {
        return update(
                PAUSE, project, name, query -> query.text("reason", reason).text("by", by));
    }

    boolean resume(String project, String name) {
        return update(RESUME, project, name, query -> query);
    }

    boolean remove(String project, String name) {
        return update(REMOVE, project, name, query -> query);
    }

    boolean skip(String project, String name, EventId event) {
        return update(
                SKIP,
                project,
                name,
                query -> query.uuid("event", event.value())
                        .text("day", EventToStore.dayOf(event).toString()));
    }

    void replay(EventStore.Replay replay) {
        database.transaction(session -> {
            if (lock(session, replay.project(), replay.name()).isEmpty())
                throw new CarillonException(
                        ErrorCode.UNKNOWN_SUBSCRIPTION,
                        "There is no subscription '%s' in this project. Check its name in the list of subscriptions."
                                .formatted(replay.name()));
            int stored = session.query(REPLAY)
                    .number("replay", replay.number())
                    .number("snapshot", EventReader.snapshotBefore(session, replay.from()))
                    .number(
                            "last",
                            EventReader.snapshotBefore(session, replay.to().plusMillis(1)))
                    .text("project", replay.project())
                    .text("name", replay.name())
                    .number("most", MAX_REPLAYS)
                    .update();
            if (stored == 0)
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "Subscription '%s' has %d replays in progress, which is the maximum. Wait until one ends."
                                .formatted(replay.name(), MAX_REPLAYS));
            return stored;
        });
    }

    private interface Binding {
        Query bind(Query query) throws SQLException;
    }

    private boolean update(String sql, String project, String name, Binding binding) {
        return database.transaction(session -> {
            lock(session, project, name);
            return binding.bind(session.query(sql).text("project", project).text("name", name))
                            .update()
                    > 0;
        });
    }
}
