package io.carillon.it.event;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.event.Event;
import io.carillon.event.EventFilter;
import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.EventType;
import io.carillon.event.NewEvent;
import io.carillon.event.PublishResult.Published;
import io.carillon.event.Subscribe;
import io.carillon.event.Topic;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Payload;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Headers that publishers add to events, and where readers find them. */
@CarillonTest
class EventHeadersTest {
    private static final EventType<String> NOTED = Topic.named("orders").event("order.noted", String.class);
    private static final EventType<String> COUNTED =
            Topic.named("stock").withVersions().event("stock.counted", String.class);
    private static final Map<String, String> HEADERS = Map.of("tenant", "acme", "note", "a \"b\" \\ {c}");

    private final ApiFixture fixture;
    private final Queue<Event<?>> received = new ConcurrentLinkedQueue<>();

    EventHeadersTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Carillon node() {
        return fixture.node(
                builder -> builder.subscribe("typed", NOTED, (event, run) -> received.add(event), Subscribe.inOrder())
                        .subscribe(
                                "untyped",
                                EventPattern.topic("*"),
                                (event, run) -> received.add(event),
                                Subscribe.inAnyOrder()));
    }

    private static NewEvent<String> noted(String data) {
        return NOTED.of(data).key("k").header("tenant", "acme").header("note", "a \"b\" \\ {c}");
    }

    private static String text(Object data) {
        return data instanceof Payload payload ? new String(payload.bytes(), UTF_8).replace("\"", "") : "";
    }

    private static EventId publish(Carillon carillon, NewEvent<?> event) {
        return ((Published) carillon.publish(event)).id();
    }

    @Test
    void subscribers_and_readers_get_the_headers_with_small_and_with_large_data() {
        Carillon carillon = node();

        EventId small = publish(carillon, noted("small"));
        EventId large = publish(carillon, noted("x".repeat(5_000)).publishId("once"));
        EventId without = publish(carillon, NOTED.of("none"));

        eventually().untilAsserted(() -> assertThat(received).hasSize(6));
        assertThat(received)
                .allSatisfy(event ->
                        assertThat(event.headers()).isEqualTo(event.id().equals(without) ? Map.of() : HEADERS));
        assertThat(carillon.events().get(large).orElseThrow().headers()).isEqualTo(HEADERS);
        assertThat(carillon.events().list("orders", "", 10).events())
                .extracting(Event::headers)
                .containsExactly(HEADERS, HEADERS, Map.of());
        assertThat(carillon.events().latest(EventFilter.topic("orders"), 10))
                .extracting(Event::headers)
                .containsExactly(Map.of(), HEADERS, HEADERS);
        assertThat(carillon.events().get(small).orElseThrow().headers().keySet())
                .containsExactly("note", "tenant");
    }

    @Test
    void the_events_of_a_large_call_keep_their_headers() {
        Carillon client = fixture.client(builder -> builder);

        client.events()
                .publishAll(IntStream.range(0, 1_200)
                        .mapToObj(number -> number % 2 == 0
                                ? NOTED.of("even")
                                : NOTED.of("odd").header("number", Integer.toString(number)))
                        .toList());

        List<Event<Payload>> stored = client.events().latest(EventFilter.topic("orders"), 4);
        assertThat(stored)
                .extracting(Event::headers)
                .containsExactly(Map.of("number", "1199"), Map.of(), Map.of("number", "1197"), Map.of());
    }

    @Test
    void the_event_of_a_schedule_has_its_headers_at_each_tick() {
        fixture.node(builder -> builder.subscribe(
                        "untyped", EventPattern.topic("*"), (event, run) -> received.add(event), Subscribe.inAnyOrder())
                .schedule("plain", When.every(Duration.ofSeconds(1)), noted("plain"))
                .schedule(
                        "versioned",
                        When.every(Duration.ofSeconds(1)),
                        COUNTED.of("versioned").key("k").headers(HEADERS))
                .schedule("without", When.every(Duration.ofSeconds(1)), NOTED.of("without")));

        eventually()
                .untilAsserted(() -> assertThat(received)
                        .extracting(Event::data)
                        .map(EventHeadersTest::text)
                        .contains("plain", "versioned", "without"));
        assertThat(received)
                .allSatisfy(event -> assertThat(event.headers())
                        .isEqualTo(text(event.data()).equals("without") ? Map.of() : HEADERS));
        assertThat(fixture.query("SELECT count(*) FROM carillon.event_store WHERE headers = '{}'")
                        .number())
                .isZero();
    }

    @Test
    void an_invalid_header_is_refused_before_anything_is_written() {
        assertThatThrownBy(() -> NOTED.of("a").header("Tenant", "acme"))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("Tenant");
        assertThatThrownBy(() -> noted("a").header("tenant", "a\nb"))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("printable ASCII");
        assertThat(noted("a").header("tenant", "other").headers()).containsEntry("tenant", "other");
        assertThat(noted("a")).isEqualTo(noted("a")).isNotEqualTo(noted("a").header("more", "1"));
    }
}
