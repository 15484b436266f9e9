package io.carillon.it.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.Subscribe;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.store.event.EventStore;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.value.Uuid7;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Payload;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a publish writes and locks, the positions of events, and databases that were restored on another server. */
@CarillonTest
class EventPositionTest {
    private static final long OTHER_SERVER = 1_000_000_000L;

    private final TestDatabase database;
    private final Storage storage;

    EventPositionTest(TestDatabase database) {
        this.database = database;
        this.storage = new PostgresStorage(database.pool(4), TickPlanner.defaults());
    }

    @AfterEach
    void close() {
        storage.close();
        database.clear();
    }

    private static EventToStore event() {
        return new EventToStore(
                "default",
                new EventId(Uuid7.next()),
                "orders",
                "order.noted",
                "k",
                false,
                null,
                new Payload("1".getBytes(StandardCharsets.UTF_8), "json"));
    }

    private EventId publish() {
        EventToStore event = event();
        storage.events().publish(List.of(event), false);
        return event.id();
    }

    private List<EventId> read(EventPosition after) {
        return storage
                .eventDispatch()
                .read(
                        new EventDispatchStore.Window(
                                after, storage.eventDispatch().storeSnapshot(), null),
                        100)
                .stream()
                .map(EventDispatchStore.Head::id)
                .toList();
    }

    @Test
    void a_publish_writes_the_event_and_takes_no_other_lock_with_a_thousand_subscriptions() throws Exception {
        for (int i = 0; i < 1_000; i++)
            storage.events()
                    .declare(new EventStore.Declaration(
                            "default",
                            SubscriptionDefinition.of(
                                    "s" + i,
                                    EventPattern.topic("orders"),
                                    new SubscriptionTarget.Handler("s" + i),
                                    Subscribe.inOrder()),
                            Subscription.Owner.CODE));
        try (Connection connection = database.pool(1).getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            storage.inTransaction(connection, task -> {}).events().publish(List.of(event()), false);
            List<String> locks = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery("""
                    SELECT DISTINCT locktype || ' ' || mode || ' '
                             || coalesce(regexp_replace(relation::regclass::text, '_[0-9]{8}.*$', ''), '')
                      FROM pg_locks
                     WHERE pid = pg_backend_pid() AND mode NOT IN ('AccessShareLock') AND locktype <> 'virtualxid'
                    """)) {
                while (rows.next()) locks.add(rows.getString(1));
            }

            assertThat(locks)
                    .containsExactlyInAnyOrder(
                            "relation RowExclusiveLock event_store",
                            "relation RowExclusiveLock event_seq",
                            "transactionid ExclusiveLock ");
            connection.rollback();
        }
    }

    @Test
    void an_event_that_commits_late_gets_a_position_behind_those_that_were_read() throws Exception {
        EventToStore late = event();
        try (Connection connection = database.pool(1).getConnection()) {
            connection.setAutoCommit(false);
            storage.inTransaction(connection, task -> {}).events().publish(List.of(late), false);
            EventId first = publish();
            assertThat(read(EventPosition.endOf(0))).containsExactly(first);
            EventId second = publish();
            assertThat(read(EventPosition.endOf(1))).containsExactly(second);
            connection.commit();

            assertThat(read(EventPosition.endOf(2))).containsExactly(late.id());
            assertThat(read(EventPosition.endOf(0))).containsExactly(first, second, late.id());
            assertThat(read(EventPosition.endOf(3))).isEmpty();
        }
    }

    @Test
    void nothing_new_stores_no_snapshot() {
        assertThat(storage.eventDispatch().storeSnapshot()).isZero();
        publish();
        assertThat(storage.eventDispatch().storeSnapshot()).isEqualTo(1);
        assertThat(storage.eventDispatch().storeSnapshot()).isEqualTo(1);
    }

    @Test
    void events_of_a_restored_database_are_read_once_and_before_new_ones() {
        List<EventId> restored = restoreFromServerWithLargerNumbers();

        EventId published = publish();

        assertThat(read(EventPosition.endOf(1))).containsExactly(restored.get(1), published);
        assertThat(read(EventPosition.endOf(0))).containsExactly(restored.get(0), restored.get(1), published);
        assertThat(database.query("SELECT count(*) FROM carillon.event_epoch").number())
                .isEqualTo(1);
        EventId next = publish();
        assertThat(read(EventPosition.endOf(2))).containsExactly(next);
    }

    @Test
    void a_copy_of_many_events_uses_the_epoch_that_begins_meanwhile() throws Exception {
        publish();
        database.execute("UPDATE carillon.event_store SET xid = '" + OTHER_SERVER + "'");
        List<EventToStore> events =
                Stream.generate(EventPositionTest::event).limit(1_200).toList();
        CompletableFuture<?> published;
        try (Connection connection = database.pool(1).getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT carillon.begin_event_epoch()");
            published = CompletableFuture.runAsync(() -> storage.events().publish(events, false));
            ApiFixture.eventually()
                    .until(() -> database.query("SELECT count(*) FROM pg_locks WHERE NOT granted AND mode ="
                                            + " 'RowExclusiveLock' AND relation = 'carillon.event_store'::regclass")
                                    .number()
                            > 0);
            connection.commit();
        }
        published.get(10, TimeUnit.SECONDS);

        assertThat(database.query("SELECT count(*) FROM carillon.event_store WHERE xid > '" + OTHER_SERVER + "'")
                        .number())
                .isEqualTo(events.size());
    }

    @Test
    void a_restored_database_without_a_publisher_is_found_by_the_dispatcher() {
        List<EventId> restored = restoreFromServerWithLargerNumbers();

        assertThat(storage.eventDispatch().storeSnapshot()).isEqualTo(1);
        assertThat(read(EventPosition.endOf(1))).containsExactly(restored.get(1));

        EventId published = publish();
        assertThat(read(EventPosition.endOf(2))).containsExactly(published);
    }

    /** Returns an event that a snapshot contains, and one that none does, with numbers of a server that is ahead. */
    private List<EventId> restoreFromServerWithLargerNumbers() {
        EventId first = publish();
        assertThat(storage.eventDispatch().storeSnapshot()).isEqualTo(1);
        EventId second = publish();
        database.execute(
                "UPDATE carillon.event_store SET xid = ((xid::text::bigint + " + OTHER_SERVER + ")::text)::xid8");
        database.execute(
                "UPDATE carillon.event_snapshot SET transactions = (pg_snapshot_xmin(transactions)::text::bigint + "
                        + OTHER_SERVER + " || ':' || pg_snapshot_xmax(transactions)::text::bigint + " + OTHER_SERVER
                        + " || ':')::pg_snapshot");
        return List.of(first, second);
    }

    @Test
    void events_are_kept_for_a_subscription_that_has_not_delivered_them_for_at_most_twice_the_retention() {
        storage.events()
                .declare(new EventStore.Declaration(
                        "default",
                        SubscriptionDefinition.of(
                                "notes",
                                EventPattern.topic("orders"),
                                new SubscriptionTarget.Handler("notes"),
                                Subscribe.inOrder()),
                        Subscription.Owner.CODE));
        publish();
        EventId kept = publish();
        storage.eventDispatch().storeSnapshot();
        database.clock().advance(Duration.ofDays(20));
        try {
            publishLater();
            storage.eventDispatch().storeSnapshot();
            storage.maintenance().dropEvents(Duration.ofDays(15));
            assertThat(storage.events().find("default", kept)).isPresent();

            database.clock().advance(Duration.ofDays(15));
            storage.maintenance().dropEvents(Duration.ofDays(15));
            assertThat(storage.events().find("default", kept)).isEmpty();
            assertThat(storage.eventDispatch().behind(10)).hasSize(1);
        } finally {
            database.clock().useRealTime();
        }
    }

    @Test
    void partitions_of_publish_ids_are_removed_when_no_publish_can_meet_them() {
        storage.maintenance().ensurePartitions(0);
        String partitions = "SELECT count(*) FROM pg_class WHERE relname LIKE 'event_publish_id_%' AND relkind = 'r'";
        assertThat(database.query(partitions).number()).isPositive();
        database.clock().advance(Duration.ofDays(20));
        try {
            storage.maintenance().ensurePartitions(0);

            storage.maintenance().dropEvents(Duration.ofDays(30));

            assertThat(database.query(partitions).number()).isEqualTo(2);
        } finally {
            database.clock().useRealTime();
        }
    }

    private void publishLater() {
        EventToStore later = new EventToStore(
                "default",
                new EventId(Uuid7.at(storage.clock().now())),
                "orders",
                "order.noted",
                null,
                false,
                null,
                new Payload("1".getBytes(StandardCharsets.UTF_8), "json"));
        storage.events().publish(List.of(later), false);
    }
}
