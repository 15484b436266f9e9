package io.carillon.it.kafka;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.event.EventType;
import io.carillon.event.NewEvent;
import io.carillon.event.Relay;
import io.carillon.event.Topic;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.kafka.KafkaRelay;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.NodeProcess;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Nodes are killed and frozen, and the broker restarts, while events are published: for consumers of committed records,
 * each event appears once, in the order of its key.
 */
@CarillonTest
@Tag("slow")
class KafkaFaultsTest {
    private static final EventType<Integer> COUNTED = Topic.named("orders").event("counted", Integer.class);
    private static final int KEYS = 20;
    private static final int PARTITIONS = 4;
    private static final String KAFKA_TOPIC = "orders";
    private static final Duration RECOVERY = Duration.ofMinutes(2);

    private final ApiFixture fixture;
    private final long seed = new Random().nextLong();
    private final AtomicInteger published = new AtomicInteger();
    private KafkaBroker broker;

    KafkaFaultsTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @BeforeEach
    void startBroker() {
        broker = KafkaBroker.started();
        broker.createTopic(KAFKA_TOPIC, PARTITIONS, Map.of());
    }

    @AfterEach
    void close() {
        fixture.close();
        broker.close();
    }

    private NodeProcess node() {
        TestDatabase database = fixture.database();
        NodeProcess node = NodeProcess.start(
                RelayNode.class,
                database.jdbcUrl(),
                database.user(),
                database.password(),
                broker.client().get("bootstrap.servers").toString(),
                KAFKA_TOPIC);
        node.awaitLine("started", RECOVERY);
        return node;
    }

    /** Publishes numbers in order until the latch is released. Each key has one publisher, so its numbers grow. */
    private Thread publish(Carillon client, CountDownLatch stop) {
        Thread thread = new Thread(() -> {
            try {
                while (!stop.await(5, TimeUnit.MILLISECONDS)) {
                    List<NewEvent<Integer>> some = new ArrayList<>();
                    for (int i = 0; i < KEYS; i++) {
                        int number = published.getAndIncrement();
                        some.add(COUNTED.of(number).key("k" + number % KEYS));
                    }
                    client.events().publishAll(some);
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        });
        thread.start();
        return thread;
    }

    private static Relay relay(Carillon client) {
        return client.events().relays().list().stream().findFirst().orElseThrow();
    }

    private void awaitSent(Carillon client, long more) {
        long before = relay(client).sent();
        eventually().atMost(RECOVERY).until(() -> relay(client).sent() >= before + more);
    }

    private void assertEachOnceInOrder(Carillon client) {
        eventually().atMost(RECOVERY).until(() -> relay(client).lag().count() == 0);
        List<ConsumerRecord<byte[], byte[]>> records = broker.records(KAFKA_TOPIC);
        Map<String, List<Integer>> byKey = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> record : records)
            byKey.computeIfAbsent(new String(record.key(), UTF_8), key -> new ArrayList<>())
                    .add(Integer.parseInt(new String(record.value(), UTF_8)));
        assertThat(records).as("seed " + seed).hasSize(published.get());
        assertThat(byKey).hasSize(KEYS);
        byKey.forEach((key, numbers) -> {
            for (int i = 0; i < numbers.size(); i++)
                assertThat(numbers.get(i))
                        .as("number %d of %s, seed %d", i, key, seed)
                        .isEqualTo(i * KEYS + Integer.parseInt(key.substring(1)));
        });
        assertThat(relay(client).sent()).isEqualTo(published.get());
    }

    @Test
    void each_event_appears_once_in_order_while_nodes_are_killed() throws Exception {
        Carillon client = fixture.client(builder -> builder);
        Random random = new Random(seed);
        CountDownLatch stop = new CountDownLatch(1);
        List<NodeProcess> nodes = new ArrayList<>(List.of(node(), node()));
        Thread publisher = publish(client, stop);
        try {
            for (int kill = 0; kill < 6; kill++) {
                awaitSent(client, 500 + random.nextInt(1_000));
                // The last one may or may not be the one that sends.
                nodes.remove(random.nextInt(nodes.size())).kill();
                nodes.add(node());
            }
        } finally {
            stop.countDown();
            publisher.join();
        }
        assertEachOnceInOrder(client);
        nodes.forEach(NodeProcess::close);
    }

    @Test
    void a_frozen_node_that_continues_sends_nothing_more() throws Exception {
        Carillon client = fixture.client(builder -> builder);
        CountDownLatch stop = new CountDownLatch(1);
        try (NodeProcess first = node()) {
            Thread publisher = publish(client, stop);
            try {
                for (int freeze = 0; freeze < 3; freeze++) {
                    awaitSent(client, 500);
                    first.freeze();
                    try (NodeProcess second = node()) {
                        assertThat(second.isAlive()).isTrue();
                        awaitSent(client, 500);
                        first.resume();
                        awaitSent(client, 500);
                    }
                    awaitSent(client, 500);
                }
            } finally {
                stop.countDown();
                publisher.join();
            }
            assertEachOnceInOrder(client);
        }
    }

    @Test
    void nothing_is_lost_while_the_broker_restarts() throws Exception {
        Carillon carillon = fixture.node(builder -> builder.relay(KafkaRelay.to(broker.client())
                .topic(Topic.named("orders"), KAFKA_TOPIC)
                .fromBeginning()));
        CountDownLatch stop = new CountDownLatch(1);
        Thread publisher = publish(carillon, stop);
        try {
            for (int restart = 0; restart < 2; restart++) {
                awaitSent(carillon, 500);
                broker.stop();
                eventually()
                        .atMost(RECOVERY)
                        .untilAsserted(() -> assertThat(relay(carillon).error()).isNotNull());
                assertThat(relay(carillon).failingSince()).isNotNull();
                broker.start();
                awaitSent(carillon, 500);
                eventually()
                        .atMost(RECOVERY)
                        .untilAsserted(() -> assertThat(relay(carillon).error()).isNull());
            }
        } finally {
            stop.countDown();
            publisher.join();
        }
        assertEachOnceInOrder(carillon);
    }
}
