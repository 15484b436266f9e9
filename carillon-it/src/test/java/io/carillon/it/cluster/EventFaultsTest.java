package io.carillon.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.NodeConfig;
import io.carillon.embedded.EmbeddedPostgres;
import io.carillon.event.Event;
import io.carillon.event.EventId;
import io.carillon.event.EventType;
import io.carillon.event.Events;
import io.carillon.event.NewEvent;
import io.carillon.event.PublishResult;
import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import io.carillon.run.Retry;
import io.carillon.testkit.NodeProcess;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Twenty publishers commit, roll back and keep transactions open while nodes are killed and the database crashes. Each
 * committed event reaches each subscription, none that was rolled back does, and all consumers see one order.
 */
@Tag("slow")
class EventFaultsTest {
    private static final EventType<Integer> COUNTED = Topic.named("storm").event("storm.counted", Integer.class);
    private static final int PUBLISHERS = 20;
    private static final int KEYS = 100;
    private static final int EVENTS_BETWEEN_FAULTS = 150;
    private static final int FAULTS = 6;
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private final long seed = System.nanoTime();
    private final Set<EventId> committed = ConcurrentHashMap.newKeySet();
    private final Set<EventId> rolledBack = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final List<Thread> publishers = new ArrayList<>();

    /** A node whose subscriptions write what they receive to a table. */
    static final class Node {
        private static final Retry RETRY = Retry.exponential(Duration.ofMillis(50))
                .cap(Duration.ofMillis(500))
                .attempts(200);

        private Node() {}

        public static void main(String[] arguments) throws Exception {
            try (HikariDataSource source = pool(arguments[0], arguments[1], arguments[2], 12)) {
                Carillon carillon = Carillon.on(source)
                        .nodeName(arguments[3])
                        .config(NodeConfig.defaults().heartbeat(Duration.ofMillis(500), Duration.ofSeconds(2)))
                        .subscribe(
                                "ordered",
                                COUNTED,
                                (event, run) -> received(source, "ordered", event),
                                Subscribe.inOrder().fromBeginning(),
                                HandlerOptions.defaults().retry(RETRY))
                        .subscribe(
                                "free",
                                COUNTED,
                                (event, run) -> received(source, "free", event),
                                Subscribe.inAnyOrder().fromBeginning(),
                                HandlerOptions.defaults().retry(RETRY))
                        .start();
                System.out.println("ready " + arguments[3]);
                new CountDownLatch(1).await();
                carillon.close();
            }
        }

        private static void received(DataSource source, String subscription, Event<Integer> event) throws SQLException {
            try (Connection connection = source.getConnection();
                    PreparedStatement insert = connection.prepareStatement(
                            "INSERT INTO received (subscription, event, key) VALUES (?, ?, ?)")) {
                insert.setString(1, subscription);
                insert.setString(2, event.id().toString());
                insert.setString(3, event.key());
                insert.executeUpdate();
            }
        }
    }

    @Test
    void no_event_is_lost_and_all_consumers_see_one_order_while_nodes_and_the_database_fail() throws Exception {
        System.out.println("seed " + seed);
        try (EmbeddedPostgres postgres = EmbeddedPostgres.temporary()
                        .setting("fsync", "on")
                        .setting("synchronous_commit", "on")
                        .start();
                HikariDataSource source = pool(postgres, PUBLISHERS + 4);
                Carillon client = Carillon.on(source).build()) {
            query(source, "CREATE TABLE received (number bigserial, subscription text, event text, key text)");
            Map<Integer, NodeProcess> nodes = new HashMap<>();
            try {
                for (int i = 0; i < 2; i++) nodes.put(i, node(postgres, "node-" + i));
                for (int i = 0; i < PUBLISHERS; i++) {
                    Random random = new Random(seed + i);
                    publishers.add(new Thread(() -> publishWhileOpen(client, source, random), "publisher-" + i));
                }
                publishers.forEach(Thread::start);
                causeFaults(postgres, nodes);
                for (Thread publisher : publishers) publisher.join();
                check(client.events(), source);
            } finally {
                open.set(false);
                nodes.values().forEach(NodeProcess::close);
            }
        }
    }

    private static NodeProcess node(EmbeddedPostgres postgres, String name) {
        NodeProcess node =
                NodeProcess.start(Node.class, postgres.jdbcUrl(), postgres.user(), postgres.password(), name);
        node.awaitLine("ready", LIMIT);
        return node;
    }

    /** Kills the nodes in turn and starts others, and crashes the database after every second one. */
    private void causeFaults(EmbeddedPostgres postgres, Map<Integer, NodeProcess> nodes) {
        for (int fault = 0; fault < FAULTS; fault++) {
            int before = committed.size();
            await().atMost(LIMIT).until(() -> committed.size() > before + EVENTS_BETWEEN_FAULTS);
            if (fault % 3 == 2) postgres.restartImmediately();
            else {
                nodes.get(fault % 2).kill();
                nodes.put(fault % 2, node(postgres, "node-" + fault + "-next"));
            }
        }
        open.set(false);
    }

    private void publishWhileOpen(Carillon client, DataSource source, Random random) {
        while (open.get()) {
            List<EventId> ids = new ArrayList<>();
            boolean wanted = random.nextInt(6) > 0;
            try (Connection connection = source.getConnection()) {
                connection.setAutoCommit(false);
                // Two publishes, whose keys have another order than in other transactions.
                for (int part = 0; part < 2; part++) {
                    NewEvent<Integer> event = COUNTED.of(part).key("k" + random.nextInt(KEYS));
                    ids.add(((PublishResult.Published) client.in(connection).publish(event)).id());
                    pause(connection, random);
                }
                if (wanted) connection.commit();
                else connection.rollback();
                (wanted ? committed : rolledBack).addAll(ids);
            } catch (Exception crashed) {
                // Whether the commit took effect is read from the database.
            }
        }
    }

    /** Keeps the transaction open, now and then for long, so that the order of the commits is random. */
    private static void pause(Connection connection, Random random) throws SQLException {
        double seconds = random.nextInt(20) == 0 ? random.nextDouble() : random.nextDouble() / 20;
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_sleep(" + seconds + ")");
        }
    }

    private void check(Events events, DataSource source) {
        List<EventId> order = new ArrayList<>();
        Map<EventId, String> keys = new HashMap<>();
        await().atMost(LIMIT).ignoreExceptions().untilAsserted(() -> {
            order.clear();
            readAll(events, order, keys);
            for (String subscription : List.of("ordered", "free"))
                assertThat(new HashSet<>(firstReceived(source, subscription)))
                        .as(subscription)
                        .isEqualTo(new HashSet<>(order));
            assertThat(query(source, "SELECT id::text FROM carillon.run")).isEmpty();
        });
        assertThat(order).doesNotHaveDuplicates().containsAll(committed).doesNotContainAnyElementsOf(rolledBack);
        assertThat(query(source, "SELECT id::text FROM carillon.dead_run")).isEmpty();
        List<EventId> ordered = firstReceived(source, "ordered");
        for (int i = 0; i < KEYS; i++) {
            String key = "k" + i;
            assertThat(ordered.stream().filter(id -> key.equals(keys.get(id))))
                    .as(key)
                    .containsExactlyElementsOf(order.stream()
                            .filter(id -> key.equals(keys.get(id)))
                            .toList());
        }
    }

    private static void readAll(Events events, List<EventId> order, Map<EventId, String> keys) {
        Events.Page page = events.list("storm", "", 1_000);
        while (true) {
            for (Event<?> event : page.events()) {
                order.add(event.id());
                keys.put(event.id(), event.key());
            }
            if (page.atEnd()) return;
            page = events.list("storm", page.next(), 1_000);
        }
    }

    private static List<EventId> firstReceived(DataSource source, String subscription) {
        return query(
                        source,
                        "SELECT event FROM received WHERE subscription = '" + subscription
                                + "' GROUP BY event ORDER BY min(number)")
                .stream()
                .map(EventId::parse)
                .toList();
    }

    /** Returns the first column; an empty list for a statement without a result. */
    private static List<String> query(DataSource source, String sql) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            List<String> values = new ArrayList<>();
            if (!statement.execute(sql)) return values;
            try (ResultSet rows = statement.getResultSet()) {
                while (rows.next()) values.add(rows.getString(1));
            }
            return values;
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static HikariDataSource pool(EmbeddedPostgres postgres, int size) {
        return pool(postgres.jdbcUrl(), postgres.user(), postgres.password(), size);
    }

    private static HikariDataSource pool(String url, String user, String password, int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(2_000);
        return new HikariDataSource(config);
    }
}
