package io.carillon.it.kafka;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.Health;
import io.carillon.event.Event;
import io.carillon.event.EventType;
import io.carillon.event.NewEvent;
import io.carillon.event.SourcePartition;
import io.carillon.event.Topic;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.kafka.KafkaSource;
import io.carillon.run.Payload;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Sources of events from Kafka, as an application uses them. */
@CarillonTest
class KafkaSourceTest {
    private static final EventType<String> PAID = Topic.named("payments").event("paid", String.class);

    private static KafkaBroker broker;

    private final ApiFixture fixture;
    private final String topic = "payments-" + System.nanoTime();

    KafkaSourceTest(TestDatabase database) {
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

    private static NewEvent<String> toEvent(ConsumerRecord<byte[], byte[]> record) {
        String value = new String(record.value(), UTF_8);
        if (value.startsWith("bad")) throw new IllegalArgumentException("cannot read " + value);
        return PAID.of(value).key(new String(record.key(), UTF_8));
    }

    private Carillon node(UnaryOperator<KafkaSource> options) {
        return fixture.node(builder -> builder.source(
                options.apply(KafkaSource.from(broker.client()).topic(topic, KafkaSourceTest::toEvent))));
    }

    private void send(String... values) {
        sendAll(List.of(values), value -> value.substring(value.length() - 1));
    }

    private void sendAll(List<String> values, UnaryOperator<String> key) {
        Map<String, Object> config = new HashMap<>(broker.client());
        config.put("max.request.size", 3_000_000);
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            List<Future<RecordMetadata>> sent = values.stream()
                    .map(value -> producer.send(new ProducerRecord<>(topic, key.apply(value), value)))
                    .toList();
            for (Future<RecordMetadata> one : sent) assertThat(one).succeedsWithin(ApiFixture.TIMEOUT);
        }
    }

    private void sendWithHeaders(String value, Map<String, String> headers) {
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(broker.client(), new StringSerializer(), new StringSerializer())) {
            ProducerRecord<String, String> record = new ProducerRecord<>(topic, "k", value);
            headers.forEach((name, text) -> record.headers().add(name, text.getBytes(UTF_8)));
            assertThat(producer.send(record)).succeedsWithin(ApiFixture.TIMEOUT);
        }
    }

    private static List<String> published(Carillon carillon) {
        List<String> all = new ArrayList<>();
        String after = "";
        while (true) {
            var page = carillon.events().list("payments", after, 1_000);
            for (Event<Payload> event : page.events())
                all.add(new String(event.data().bytes(), UTF_8).replace("\"", ""));
            if (page.atEnd()) return all;
            after = page.next();
        }
    }

    @Test
    void each_record_is_published_once_also_while_partitions_move_between_nodes() {
        broker.createTopic(topic, 3, Map.of());
        List<String> expected = IntStream.range(0, 300).mapToObj(i -> "v" + i).toList();
        Carillon client = fixture.client(builder -> builder);
        send(expected.subList(0, 100).toArray(String[]::new));
        Carillon first = node(source -> source);
        eventually().untilAsserted(() -> assertThat(published(client)).hasSizeGreaterThanOrEqualTo(100));

        node(source -> source);
        send(expected.subList(100, 200).toArray(String[]::new));
        first.close();
        send(expected.subList(200, 300).toArray(String[]::new));

        eventually()
                .untilAsserted(
                        () -> assertThat(new HashSet<>(published(client))).hasSize(300));
        assertThat(published(client)).containsExactlyInAnyOrderElementsOf(expected);
        for (int digit = 0; digit < 10; digit++) {
            String end = Integer.toString(digit);
            assertThat(published(client).stream()
                            .filter(value -> value.endsWith(end))
                            .toList())
                    .isEqualTo(expected.stream()
                            .filter(value -> value.endsWith(end))
                            .toList());
        }
    }

    @Test
    void a_record_that_cannot_be_published_blocks_its_partition_until_it_is_skipped() {
        broker.createTopic(topic, 1, Map.of());
        Carillon carillon =
                node(source -> source.filter(record -> !new String(record.value(), UTF_8).startsWith("no")));
        send("v1", "no2", "bad3", "v4");

        eventually().untilAsserted(() -> assertThat(carillon.health().kinds()).contains(Health.Kind.SOURCE_BLOCKED));
        // An event is listed when the dispatcher has given it a position.
        eventually().untilAsserted(() -> assertThat(published(carillon)).containsExactly("v1"));
        SourcePartition blocked = carillon.events().sources().list().get(0);
        assertThat(blocked.next()).isEqualTo(2);
        assertThat(blocked.reason()).isEqualTo("cannot read bad3");

        assertThat(carillon.events().sources().skip(topic, blocked.partition(), 2))
                .isTrue();

        eventually().untilAsserted(() -> assertThat(published(carillon)).containsExactly("v1", "v4"));
        assertThat(carillon.health().kinds()).doesNotContain(Health.Kind.SOURCE_BLOCKED);
        assertThat(carillon.events().sources().skip(topic, blocked.partition(), 2))
                .isFalse();
    }

    @Test
    void a_source_can_keep_what_it_cannot_publish_and_continue() {
        broker.createTopic(topic, 1, Map.of());
        Carillon carillon = node(KafkaSource::keepUnpublished);
        String tooLarge = "x".repeat(1_100_000) + "9";
        broker.alterTopic(topic, "max.message.bytes", "3000000");
        sendAll(List.of("v1", "bad2", tooLarge, "v3"), value -> "k");

        eventually().untilAsserted(() -> assertThat(published(carillon)).containsExactly("v1", "v3"));
        List<SourcePartition.UnpublishedRecord> unpublished =
                carillon.events().sources().unpublished(topic, 10);
        assertThat(unpublished)
                .extracting(SourcePartition.UnpublishedRecord::position)
                .containsExactlyInAnyOrder(1L, 2L);
        assertThat(unpublished).anySatisfy(one -> {
            assertThat(one.value()).isEqualTo("bad2".getBytes(UTF_8));
            assertThat(one.reason()).isEqualTo("cannot read bad2");
        });
        assertThat(unpublished).anySatisfy(one -> assertThat(one.reason()).contains("at most"));
        assertThat(carillon.events()
                        .sources()
                        .removeUnpublished(topic, unpublished.get(0).partition(), 1))
                .isTrue();
        assertThat(carillon.events().sources().unpublished(topic, 10)).hasSize(1);
    }

    @Test
    void a_source_does_not_go_back_when_another_node_has_read_on() {
        broker.createTopic(topic, 1, Map.of());
        send("v1", "v2", "v3", "v4");
        AtomicInteger calls = new AtomicInteger();
        Carillon carillon = fixture.node(builder ->
                builder.source(KafkaSource.from(broker.client()).topic(topic, record -> {
                    // The event of the second record is too large, so each record is read again alone.
                    boolean again = record.offset() == 0 && calls.incrementAndGet() == 2;
                    if (again) fixture.query("UPDATE carillon.event_source SET next_position = 4 RETURNING 1");
                    return record.offset() == 1 ? PAID.of("x".repeat(1_100_000)) : toEvent(record);
                })));
        eventually().until(() -> calls.get() == 2);
        send("v5");

        eventually().untilAsserted(() -> assertThat(published(carillon)).contains("v5"));
        assertThat(published(carillon)).containsExactly("v5");
        assertThat(carillon.events().sources().list().get(0).next()).isEqualTo(5);
    }

    @Test
    void chosen_headers_of_a_record_become_headers_of_its_event() {
        broker.createTopic(topic, 1, Map.of());
        Carillon carillon =
                node(source -> source.copyHeaders("tenant", "traceparent").keepUnpublished());

        sendWithHeaders("v1", Map.of("Tenant", "acme", "other", "x", "traceparent", "00-1"));
        sendWithHeaders("v2", Map.of("tenant", "a\nb"));
        sendWithHeaders("v3", Map.of());

        eventually().untilAsserted(() -> assertThat(published(carillon)).containsExactly("v1", "v3"));
        assertThat(carillon.events().list("payments", "", 10).events())
                .extracting(Event::headers)
                .containsExactly(Map.of("tenant", "acme", "traceparent", "00-1"), Map.of());
        assertThat(carillon.events().sources().unpublished(topic, 10))
                .singleElement()
                .satisfies(unpublished -> assertThat(unpublished.reason()).contains("event header 'tenant'"));
        assertThatThrownBy(() -> node(source -> source.copyHeaders("ce_id"))).hasMessageContaining("reserved");
    }

    @Test
    void records_that_kafka_has_removed_are_reported_and_passed() {
        broker.createTopic(topic, 1, Map.of());
        Carillon first = node(source -> source);
        send("v1", "v2");
        eventually().untilAsserted(() -> assertThat(published(first)).containsExactly("v1", "v2"));
        first.close();
        broker.deleteTopic(topic);
        eventually().ignoreExceptions().until(() -> {
            broker.createTopic(topic, 1, Map.of());
            return true;
        });
        send("v3");

        Carillon second = node(source -> source);

        eventually().untilAsserted(() -> assertThat(published(second)).containsExactly("v1", "v2", "v3"));
        assertThat(second.events().sources().unpublished(topic, 10))
                .singleElement()
                .satisfies(unpublished -> assertThat(unpublished.reason()).contains("created again"));
    }
}
