package io.carillon.it.kafka;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.event.EventId;
import io.carillon.event.EventType;
import io.carillon.event.PublishResult.Published;
import io.carillon.event.Relay;
import io.carillon.event.Topic;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.kafka.KafkaRelay;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Relays of events to Kafka, as an application uses them. */
@CarillonTest
class KafkaRelayTest {
    private static final Topic ORDERS = Topic.named("orders");
    private static final EventType<String> NOTED = ORDERS.event("order.noted", String.class);

    private static KafkaBroker broker;

    private final ApiFixture fixture;
    private final String topic = "orders-" + System.nanoTime();

    KafkaRelayTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @BeforeAll
    static void startBroker() {
        broker = KafkaBroker.started();
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private KafkaRelay relay() {
        return KafkaRelay.to(broker.client()).topic(ORDERS, topic).named(topic);
    }

    private Carillon node() {
        return fixture.node(builder -> builder.relay(relay()));
    }

    private static EventId publish(Carillon carillon, String key, String data) {
        return ((Published) carillon.publish(NOTED.of(data).key(key))).id();
    }

    private static String header(ConsumerRecord<byte[], byte[]> record, String name) {
        return new String(record.headers().lastHeader(name).value(), UTF_8);
    }

    private Relay listed(Carillon carillon) {
        return carillon.events().relays().list().get(0);
    }

    @Test
    void events_are_sent_as_cloud_events_with_their_key() {
        broker.createTopic(topic, 1, Map.of());
        Carillon carillon = node();
        EventId id = ((Published) carillon.publish(NOTED.of("paid")
                        .key("o-1")
                        .header("traceparent", "00-1")
                        .header("tenant", "acme")))
                .id();
        carillon.publish(NOTED.of("no key"));

        eventually().untilAsserted(() -> assertThat(broker.values(topic)).containsExactly("\"paid\"", "\"no key\""));

        ConsumerRecord<byte[], byte[]> record = broker.records(topic).get(0);
        assertThat(new String(record.key(), UTF_8)).isEqualTo("o-1");
        assertThat(header(record, "ce_specversion")).isEqualTo("1.0");
        assertThat(header(record, "ce_id")).isEqualTo(id.toString());
        assertThat(header(record, "ce_type")).isEqualTo("order.noted");
        assertThat(header(record, "ce_source")).isEqualTo("/carillon/default/orders");
        assertThat(header(record, "ce_time"))
                .isEqualTo(carillon.events().get(id).orElseThrow().publishedAt().toString());
        assertThat(header(record, "content-type")).isEqualTo("application/json");
        assertThat(header(record, "traceparent")).isEqualTo("00-1");
        assertThat(header(record, "tenant")).isEqualTo("acme");
        assertThat(broker.records(topic).get(1).key()).isNull();
        assertThat(broker.records(topic).get(1).headers().lastHeader("tenant")).isNull();
        eventually().untilAsserted(() -> assertThat(listed(carillon).sent()).isEqualTo(2));
        assertThat(listed(carillon).lag().count()).isZero();
        assertThat(listed(carillon).destination()).isEqualTo("kafka:" + topic);
    }

    @Test
    void one_node_sends_and_another_one_takes_over() {
        broker.createTopic(topic, 3, Map.of());
        Carillon first = node();
        eventually().untilAsserted(() -> assertThat(listed(first).node()).isNotNull());
        Carillon second = node();
        for (int i = 0; i < 20; i++) publish(first, "k" + i % 4, Integer.toString(i));
        eventually().untilAsserted(() -> assertThat(broker.values(topic)).hasSize(20));

        first.close();
        for (int i = 20; i < 40; i++) publish(second, "k" + i % 4, Integer.toString(i));

        eventually().untilAsserted(() -> assertThat(broker.values(topic)).hasSize(40));
        for (int key = 0; key < 4; key++) {
            int remainder = key;
            List<String> expected = IntStream.range(0, 40)
                    .filter(i -> i % 4 == remainder)
                    .mapToObj(i -> "\"" + i + "\"")
                    .toList();
            assertThat(broker.records(topic).stream()
                            .filter(record -> new String(record.key(), UTF_8).equals("k" + remainder))
                            .map(record -> new String(record.value(), UTF_8))
                            .toList())
                    .isEqualTo(expected);
        }
    }

    @Tag("slow")
    @Test
    void a_rejected_event_blocks_its_key_until_it_is_skipped_or_accepted() {
        broker.createTopic(topic, 1, Map.of("max.message.bytes", "2000"));
        Carillon carillon = node();
        String large = "x".repeat(5_000);
        publish(carillon, "a", "a1");
        EventId firstLarge = publish(carillon, "a", large + 1);
        publish(carillon, "a", "a2");
        publish(carillon, "b", "b1");
        EventId secondLarge = publish(carillon, "c", large + 2);
        publish(carillon, "c", "c1");

        eventually().untilAsserted(() -> {
            Relay relay = listed(carillon);
            assertThat(relay.rejected()).isEqualTo(2);
            assertThat(relay.waiting()).isEqualTo(2);
            assertThat(relay.lag().count()).isZero();
        });
        assertThat(broker.values(topic)).containsExactly("\"a1\"", "\"b1\"");
        List<Relay.Rejected> rejected = carillon.events().relays().rejected(topic, 10);
        assertThat(rejected).extracting(Relay.Rejected::event).containsExactly(firstLarge, secondLarge);
        assertThat(rejected.get(0).key()).isEqualTo("a");
        assertThat(rejected.get(0).blocksKey()).isTrue();
        assertThat(rejected.get(0).reason()).containsIgnoringCase("large");

        assertThat(carillon.events().relays().skip(topic, firstLarge)).isTrue();
        eventually()
                .untilAsserted(() -> assertThat(broker.values(topic)).containsExactly("\"a1\"", "\"b1\"", "\"a2\""));
        broker.alterTopic(topic, "max.message.bytes", "100000");
        assertThat(carillon.events().relays().retry(topic, secondLarge)).isTrue();
        publish(carillon, "c", "c2");
        eventually()
                .untilAsserted(() -> assertThat(broker.values(topic))
                        .extracting(value -> value.replaceAll("x+", "large"))
                        .containsExactly("\"a1\"", "\"b1\"", "\"a2\"", "\"large2\"", "\"c1\"", "\"c2\""));
        assertThat(carillon.events().relays().skip(topic, firstLarge)).isFalse();
        eventually().untilAsserted(() -> assertThat(listed(carillon).rejected()).isZero());
    }
}
