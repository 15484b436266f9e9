package io.carillon.it.event;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.event.EventId;
import io.carillon.event.EventType;
import io.carillon.event.Events;
import io.carillon.event.NewEvent;
import io.carillon.event.PublishResult;
import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.it.fixture.Concurrently;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Many publishers whose transactions overlap, commit late and roll back, while one transaction stays open: no event is
 * lost, none of a rolled-back transaction is delivered, all consumers see one order, and an event that was published
 * after another one of its key had committed follows it.
 */
@CarillonTest
class PublisherStormTest {
    private static final EventType<Integer> COUNTED = Topic.named("storm").event("counted", Integer.class);
    private static final int PUBLISHERS = 20;
    private static final int KEYS = 50;

    /** An event that was published after another one of its key had committed. */
    private record Pair(EventId earlier, EventId later) {}

    private final ApiFixture fixture;
    private final long seed = new Random().nextLong();
    private final Set<EventId> committed = ConcurrentHashMap.newKeySet();
    private final Set<EventId> rolledBack = ConcurrentHashMap.newKeySet();
    private final ConcurrentMap<String, EventId> lastCommitted = new ConcurrentHashMap<>();
    private final Queue<Pair> pairs = new ConcurrentLinkedQueue<>();

    PublisherStormTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void no_event_is_lost_and_all_consumers_see_one_order() throws Exception {
        storm(Duration.ofSeconds(3));
    }

    @Test
    @Tag("slow")
    void no_event_is_lost_and_all_consumers_see_one_order_for_long() throws Exception {
        storm(Duration.ofSeconds(40));
    }

    private void storm(Duration time) throws Exception {
        System.out.println("seed " + seed);
        Queue<EventId> ordered = new ConcurrentLinkedQueue<>();
        Queue<EventId> free = new ConcurrentLinkedQueue<>();
        Carillon first = fixture.node(builder -> builder.subscribe(
                        "ordered", COUNTED, (event, run) -> ordered.add(event.id()), Subscribe.inOrder())
                .subscribe("free", COUNTED, (event, run) -> free.add(event.id()), Subscribe.inAnyOrder()));
        fixture.node(builder -> builder.subscribe(
                        "ordered", COUNTED, (event, run) -> ordered.add(event.id()), Subscribe.inOrder())
                .subscribe("free", COUNTED, (event, run) -> free.add(event.id()), Subscribe.inAnyOrder()));
        DataSource pool = fixture.database().pool(PUBLISHERS + 2);
        List<EventId> whileRunning = new ArrayList<>();
        try (Connection open = pool.getConnection()) {
            open.setAutoCommit(false);
            EventId late = publish(
                            first, open, new NewEvent<?>[] {COUNTED.of(-1).key("late")})
                    .get(0);
            long until = System.nanoTime() + time.toNanos();
            Concurrently.run(PUBLISHERS + 2, thread -> {
                if (thread < PUBLISHERS) publishUntil(first, pool, new Random(seed + thread), until);
                else if (thread == PUBLISHERS) readUntil(first.events(), whileRunning, until);
                else disturbUntil(first, pool, until);
                return null;
            });
            assertThat(whileRunning).doesNotContain(late);
            open.commit();
            committed.add(late);
        }

        eventually().untilAsserted(() -> assertThat(free).hasSize(committed.size()));
        eventually().untilAsserted(() -> assertThat(ordered).hasSize(committed.size()));
        assertThat(List.copyOf(free))
                .containsExactlyInAnyOrderElementsOf(committed)
                .doesNotContainAnyElementsOf(rolledBack);
        assertThat(new HashSet<>(ordered)).isEqualTo(committed);

        List<EventId> order = readAll(first.events());
        assertThat(order).hasSize(committed.size());
        assertThat(new HashSet<>(order)).isEqualTo(committed);
        assertThat(order).startsWith(whileRunning.toArray(EventId[]::new));
        Map<EventId, Integer> position = positions(order);
        Map<EventId, Integer> handled = positions(List.copyOf(ordered));
        assertThat(pairs).isNotEmpty();
        assertThat(List.copyOf(pairs)).allMatch(pair -> position.get(pair.earlier()) < position.get(pair.later()));
        assertThat(List.copyOf(pairs)).allMatch(pair -> handled.get(pair.earlier()) < handled.get(pair.later()));
        assertThat(readAll(first.events())).isEqualTo(order);
    }

    private static Map<EventId, Integer> positions(List<EventId> order) {
        Map<EventId, Integer> positions = new HashMap<>();
        for (EventId id : order) positions.put(id, positions.size());
        return positions;
    }

    /** Pauses and resumes subscriptions, now and then in a transaction that stays open or rolls back. */
    private void disturbUntil(Carillon carillon, DataSource pool, long until) throws Exception {
        Random random = new Random(seed - 1);
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            while (System.nanoTime() - until < 0) {
                String name = random.nextBoolean() ? "ordered" : "free";
                carillon.in(connection).events().pause(name, "test");
                pause(connection, random);
                if (random.nextInt(4) == 0) connection.rollback();
                else connection.commit();
                pause(connection, random);
                connection.commit();
                carillon.events().resume(name);
            }
        }
    }

    private void publishUntil(Carillon carillon, DataSource pool, Random random, long until) throws Exception {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            while (System.nanoTime() - until < 0) {
                List<String> keys = new ArrayList<>();
                List<EventId> before = new ArrayList<>();
                List<EventId> ids = new ArrayList<>();
                // Two publishes of several keys, in an order that differs from that of other transactions.
                for (int part = 0; part < 2; part++) {
                    NewEvent<?>[] events = new NewEvent<?>[1 + random.nextInt(5)];
                    for (int i = 0; i < events.length; i++) {
                        String key = "k" + random.nextInt(KEYS);
                        keys.add(key);
                        before.add(lastCommitted.get(key));
                        events[i] = COUNTED.of(i).key(key);
                    }
                    ids.addAll(publish(carillon, connection, events));
                    pause(connection, random);
                }
                if (random.nextInt(5) == 0) {
                    connection.rollback();
                    rolledBack.addAll(ids);
                    continue;
                }
                connection.commit();
                committed.addAll(ids);
                for (int i = 0; i < ids.size(); i++) {
                    EventId earlier = before.get(i);
                    if (earlier != null) pairs.add(new Pair(earlier, ids.get(i)));
                    lastCommitted.put(keys.get(i), ids.get(i));
                }
            }
        }
    }

    /** Keeps the transaction open, now and then for long, so that the order of the commits is random. */
    private static void pause(Connection connection, Random random) throws Exception {
        double seconds = random.nextInt(20) == 0 ? random.nextDouble() / 2 : random.nextDouble() / 50;
        try (var statement = connection.createStatement()) {
            statement.execute("SELECT pg_sleep(" + seconds + ")");
        }
    }

    private static List<EventId> publish(Carillon carillon, Connection connection, NewEvent<?>[] events) {
        return carillon.in(connection).events().publishAll(List.of(events)).stream()
                .map(result -> ((PublishResult.Published) result).id())
                .toList();
    }

    private static void readUntil(Events events, List<EventId> found, long until) {
        String after = "";
        while (System.nanoTime() - until < 0) {
            Events.Page page = events.list("storm", after, 1_000);
            page.events().forEach(event -> found.add(event.id()));
            after = page.next();
        }
    }

    private static List<EventId> readAll(Events events) {
        List<EventId> all = new ArrayList<>();
        Events.Page page = events.list("storm", "", 1_000);
        while (true) {
            page.events().forEach(event -> all.add(event.id()));
            if (page.atEnd()) return all;
            page = events.list("storm", page.next(), 1_000);
        }
    }
}
