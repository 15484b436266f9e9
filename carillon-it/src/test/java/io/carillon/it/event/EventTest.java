package io.carillon.it.event;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.event.CloudEventMode;
import io.carillon.event.Event;
import io.carillon.event.EventFilter;
import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.EventType;
import io.carillon.event.Events;
import io.carillon.event.NewEvent;
import io.carillon.event.PublishResult;
import io.carillon.event.PublishResult.Published;
import io.carillon.event.Subscribe;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionTarget;
import io.carillon.event.Topic;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Events as an application uses them: publishing, subscriptions, order, replay. */
@CarillonTest
class EventTest {
    record OrderPlaced(String order, BigDecimal total) {}

    private static final Topic ORDERS = Topic.named("orders");
    private static final EventType<OrderPlaced> PLACED = ORDERS.event("order.placed", OrderPlaced.class);
    private static final EventType<String> NOTED = ORDERS.event("order.noted", String.class);
    private static final EventType<String> COUNTED =
            Topic.named("stock").withVersions().event("stock.counted", String.class);

    private final ApiFixture fixture;
    private final Queue<String> received = new ConcurrentLinkedQueue<>();

    EventTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private static EventId id(PublishResult result) {
        return ((Published) result).id();
    }

    private Carillon noting(Subscribe options) {
        return fixture.node(
                builder -> builder.subscribe("notes", NOTED, (event, run) -> received.add(event.data()), options));
    }

    @Test
    void each_subscription_gets_a_run_for_each_event() {
        Queue<Event<OrderPlaced>> mails = new ConcurrentLinkedQueue<>();
        Queue<Event<Payload>> all = new ConcurrentLinkedQueue<>();
        Carillon carillon = fixture.node(builder -> builder.subscribe(
                        "send-mail", PLACED, (event, run) -> mails.add(event), Subscribe.inOrder())
                .subscribe("audit", EventPattern.topic("ord*"), (event, run) -> all.add(event), Subscribe.inAnyOrder())
                .subscribe(
                        "refunds",
                        EventPattern.of("orders", "refund.*", "order.cancelled"),
                        (event, run) -> all.add(event),
                        Subscribe.inAnyOrder()));
        OrderPlaced order = new OrderPlaced("o-1", new BigDecimal("12345678901234567890.10"));

        EventId published = id(carillon.publish(PLACED.of(order).key("o-1")));

        eventually().untilAsserted(() -> assertThat(mails).hasSize(1));
        eventually().untilAsserted(() -> assertThat(all).hasSize(1));
        Event<OrderPlaced> mail = mails.element();
        assertThat(mail.id()).isEqualTo(published);
        assertThat(mail.topic()).isEqualTo("orders");
        assertThat(mail.type()).isEqualTo("order.placed");
        assertThat(mail.key()).isEqualTo("o-1");
        assertThat(mail.data()).isEqualTo(order);
        assertThat(carillon.events().get(published).orElseThrow().publishedAt()).isEqualTo(mail.publishedAt());
        eventually()
                .untilAsserted(() -> assertThat(carillon.runs().list(RunFilter.all()))
                        .hasSize(2)
                        .allMatch(run -> run.origin() == Origin.EVENT));
    }

    @Test
    void an_event_is_published_with_the_transaction_of_the_caller() throws Exception {
        Carillon carillon = noting(Subscribe.inAnyOrder());
        try (Connection connection = fixture.database().pool(1).getConnection()) {
            connection.setAutoCommit(false);
            carillon.in(connection).publish(NOTED.of("rolled back"));
            connection.rollback();
            carillon.in(connection).publish(NOTED.of("committed"));
            carillon.publish(NOTED.of("meanwhile"));
            eventually().untilAsserted(() -> assertThat(received).containsExactly("meanwhile"));

            connection.commit();
        }

        eventually().untilAsserted(() -> assertThat(received).containsExactly("meanwhile", "committed"));
    }

    @Test
    void events_of_a_key_are_delivered_one_after_the_other() {
        AtomicInteger failures = new AtomicInteger();
        Carillon carillon = fixture.node(builder -> builder.subscribe(
                "notes",
                NOTED,
                (event, run) -> {
                    if (event.data().endsWith("3") && failures.getAndIncrement() < 2)
                        throw new IllegalStateException("not yet");
                    received.add(event.data());
                },
                Subscribe.inOrder(),
                HandlerOptions.defaults().retry(Retry.exponential(Duration.ofMillis(20)))));
        List<NewEvent<String>> events = IntStream.range(0, 40)
                .mapToObj(i -> NOTED.of((i % 4) + "/" + i / 4).key("k" + i % 4))
                .toList();

        carillon.events().publishAll(events);

        eventually().untilAsserted(() -> assertThat(received).hasSize(40));
        for (int key = 0; key < 4; key++) {
            String prefix = key + "/";
            assertThat(received.stream().filter(text -> text.startsWith(prefix)))
                    .containsExactlyElementsOf(
                            IntStream.range(0, 10).mapToObj(i -> prefix + i).toList());
        }
    }

    @Test
    void large_data_is_not_copied_to_each_run() {
        Carillon carillon = noting(Subscribe.inAnyOrder());
        String large = "x".repeat(100_000);
        carillon.events().pause("notes", "until published");

        carillon.publish(NOTED.of(large));
        carillon.publish(NOTED.of("small"));
        carillon.events().resume("notes");

        eventually().untilAsserted(() -> assertThat(received).containsExactlyInAnyOrder(large, "small"));
    }

    @Test
    void a_paused_subscription_keeps_its_place() {
        Carillon carillon = noting(Subscribe.inAnyOrder());
        Events events = carillon.events();

        assertThat(events.pause("notes", "maintenance")).isTrue();
        assertThat(events.pause("notes", "again")).isFalse();
        carillon.publish(NOTED.of("first"));
        EventId second = id(carillon.publish(NOTED.of("second")));
        eventually()
                .untilAsserted(() -> assertThat(
                                events.subscription("notes").orElseThrow().lag().count())
                        .isEqualTo(2));
        Subscription paused = events.subscription("notes").orElseThrow();
        assertThat(paused.pausedReason()).isEqualTo("maintenance");
        assertThat(paused.lag().oldest()).isNotNull();
        assertThat(events.skip("notes", second)).isTrue();
        assertThat(events.skip("notes", new EventId(new UUID(0x0190_0000_0000_7000L, 1))))
                .isFalse();
        assertThat(received).isEmpty();

        assertThat(events.resume("notes")).isTrue();

        eventually().untilAsserted(() -> assertThat(received).containsExactly("first"));
        carillon.publish(NOTED.of("third"));
        eventually().untilAsserted(() -> assertThat(received).containsExactly("first", "third"));
        assertThat(events.skip("notes", second)).isFalse();
    }

    @Test
    void a_replay_delivers_past_events_again() {
        Carillon carillon = noting(Subscribe.inAnyOrder());
        Instant before = Instant.now().minusSeconds(60);
        carillon.publish(NOTED.of("first"));
        carillon.publish(NOTED.of("second"));
        eventually().untilAsserted(() -> assertThat(received).hasSize(2));
        eventually()
                .untilAsserted(() -> assertThat(fixture.query("SELECT count(*) FROM carillon.run")
                                .number())
                        .isZero());

        carillon.events().replay("notes", before, Instant.now().plusSeconds(60));

        eventually().untilAsserted(() -> assertThat(received).hasSize(4));
        eventually()
                .untilAsserted(() -> assertThat(carillon.events().subscriptions())
                        .extracting(Subscription::replays)
                        .containsExactly(0));
        assertThatThrownBy(() -> carillon.events().replay("other", before, Instant.now()))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("'other'");
    }

    @Test
    void a_new_subscription_starts_where_its_options_say() {
        Carillon publisher = fixture.client(builder -> builder);
        publisher.publish(NOTED.of("early"));

        Carillon node = fixture.node(builder -> builder.subscribe(
                        "now", NOTED, (event, run) -> received.add("now " + event.data()), Subscribe.inAnyOrder())
                .subscribe(
                        "all",
                        NOTED,
                        (event, run) -> received.add("all " + event.data()),
                        Subscribe.inAnyOrder().fromBeginning()));
        publisher.publish(NOTED.of("late"));

        eventually()
                .untilAsserted(
                        () -> assertThat(received).containsExactlyInAnyOrder("all early", "all late", "now late"));
        assertThat(node.events().unsubscribe("all")).isTrue();
        assertThat(node.events().unsubscribe("all")).isFalse();
    }

    @Test
    void data_of_an_older_type_is_converted() {
        EventType<String> renamed =
                ORDERS.event("order.annotated", String.class).accepting("order.noted", json -> "old " + json);
        Carillon carillon = fixture.node(builder -> builder.subscribe(
                "notes", renamed, (event, run) -> received.add(event.data()), Subscribe.inAnyOrder()));

        carillon.publish(NOTED.of("a"));
        carillon.publish(renamed.of("b").key("k"));

        eventually().untilAsserted(() -> assertThat(received).containsExactlyInAnyOrder("old \"a\"", "b"));
        List<Event<String>> published =
                CarillonKit.on(fixture.database()).events().published(renamed);
        assertThat(published).extracting(Event::data).containsExactly("old \"a\"", "b");
        assertThat(published).extracting(Event::key).containsExactly(null, "k");
    }

    @Test
    void a_version_conflict_stores_nothing_and_says_both_versions() {
        Carillon carillon = fixture.client(builder -> builder);
        NewEvent<String> event = COUNTED.of("1").key("bolt");

        assertThat(((Published) carillon.publish(event.expectedVersion(0))).version())
                .isEqualTo(1);
        assertThat(((Published) carillon.publish(event)).version()).isEqualTo(2);
        assertThat(carillon.publish(event.expectedVersion(1)))
                .isEqualTo(new PublishResult.VersionConflict("bolt", 1, 2));
        assertThat(carillon.publish(COUNTED.of("1").key("nut").expectedVersion(3)))
                .isEqualTo(new PublishResult.VersionConflict("nut", 3, 0));
        assertThat(carillon.events().publishAll(List.of(COUNTED.of("1").key("nut"), event.expectedVersion(7))))
                .containsOnly(new PublishResult.VersionConflict("bolt", 7, 2));

        assertThat(fixture.query("SELECT count(*) FROM carillon.event_store").number())
                .isEqualTo(2);
        assertThat(fixture.query("SELECT count(*) FROM carillon.event_key_version")
                        .number())
                .isEqualTo(1);
    }

    @Test
    void pages_show_all_events_of_a_topic_once() {
        Carillon carillon = noting(Subscribe.inAnyOrder());
        for (int i = 0; i < 25; i++) carillon.publish(NOTED.of("event " + i));
        carillon.publish(COUNTED.of("1").key("bolt"));
        eventually().untilAsserted(() -> assertThat(received).hasSize(25));

        List<EventId> paged = new ArrayList<>();
        Events.Page page = carillon.events().list("orders", "", 10);
        while (!page.atEnd()) {
            page.events().forEach(event -> paged.add(event.id()));
            page = carillon.events().list("orders", page.next(), 10);
        }
        page.events().forEach(event -> paged.add(event.id()));

        assertThat(paged).hasSize(25).doesNotHaveDuplicates();
        String end = page.next();
        carillon.publish(NOTED.of("later"));
        eventually()
                .untilAsserted(() -> assertThat(
                                carillon.events().list("orders", end, 10).events())
                        .extracting(event -> new String(event.data().bytes(), StandardCharsets.UTF_8))
                        .containsExactly("\"later\""));
    }

    @Test
    void run_due_delivers_events_without_a_node() {
        Carillon client = fixture.client(builder ->
                builder.subscribe("notes", NOTED, (event, run) -> received.add(event.data()), Subscribe.inAnyOrder()));

        client.publish(NOTED.of("a"));
        client.runDue(Duration.ofSeconds(10));

        assertThat(received).containsExactly("a");
    }

    @Test
    void a_schedule_publishes_an_event_with_the_end_of_each_tick() {
        Carillon carillon = fixture.node(builder -> builder.subscribe(
                        "notes", NOTED, (event, run) -> received.add(event.data()), Subscribe.inAnyOrder())
                .schedule(
                        "close-books",
                        When.every(Duration.ofSeconds(1)),
                        NOTED.of("closed").key("books")));

        eventually()
                .untilAsserted(() -> assertThat(received).hasSizeGreaterThan(2).containsOnly("closed"));

        carillon.schedules().pause("close-books");
        eventually()
                .untilAsserted(() -> assertThat(fixture.query("SELECT count(*) FROM carillon.event_store")
                                .number())
                        .isEqualTo(fixture.query("SELECT count(*) FROM carillon.run_history WHERE origin = 'tick'"
                                        + " AND state = 'succeeded'")
                                .number()));
        assertThat(fixture.query("""
                        SELECT count(*) FROM carillon.run_history h
                         WHERE h.origin = 'tick' AND h.state = 'succeeded'
                           AND NOT EXISTS (SELECT 1 FROM carillon.event_store e WHERE right(e.id::text,
                             18) = right(h.id::text, 18))
                        """).number()).isZero();
    }

    @Test
    void projects_do_not_see_the_events_of_others() {
        Carillon carillon = noting(Subscribe.inAnyOrder());

        EventId foreign = id(carillon.project("other").publish(NOTED.of("foreign")));
        carillon.publish(NOTED.of("own"));

        eventually().untilAsserted(() -> assertThat(received).containsExactly("own"));
        assertThat(carillon.events().get(foreign)).isEmpty();
        assertThat(carillon.project("other").events().get(foreign)).isPresent();
        assertThat(carillon.project("other").events().subscriptions()).isEmpty();
        assertThat(carillon.project("other").events().pause("notes", "not mine"))
                .isFalse();
    }

    @Test
    void invalid_values_are_refused_before_anything_is_written() {
        Carillon carillon = fixture.client(builder -> builder);

        refused(ErrorCode.INVALID_NAME, () -> Topic.named("Orders"));
        refused(ErrorCode.INVALID_NAME, () -> ORDERS.event("", String.class));
        refused(ErrorCode.INVALID_NAME, () -> NOTED.of("a").key("a\u0000b"));
        refused(ErrorCode.INVALID_NAME, () -> NOTED.of("a").key(""));
        refused(ErrorCode.INVALID_NAME, () -> EventPattern.topic("or*ders"));
        refused(ErrorCode.INVALID_OPTION, () -> EventPattern.of("orders"));
        refused(ErrorCode.INVALID_NAME, () -> NOTED.of("a").publishId(""));
        refused(ErrorCode.INVALID_NAME, () -> NOTED.of("a").publishId("x".repeat(201)));
        refused(ErrorCode.INVALID_NAME, () -> EventFilter.topic("orders").type("order.*.late"));
        refused(ErrorCode.INVALID_NAME, () -> new SubscriptionTarget.Endpoint("Shop", CloudEventMode.BINARY));
        refused(ErrorCode.INVALID_OPTION, () -> carillon.events().latest(EventFilter.topic("orders"), 0));
        refused(
                ErrorCode.INVALID_OPTION,
                () -> carillon.schedules()
                        .upsert(
                                "counts",
                                When.every(Duration.ofHours(1)),
                                COUNTED.of("a").key("k"),
                                ScheduleOptions.defaults()));
        refused(ErrorCode.INVALID_OPTION, () -> NOTED.of("a").expectedVersion(1));
        refused(ErrorCode.INVALID_OPTION, () -> COUNTED.of("a").expectedVersion(-1));
        refused(ErrorCode.INVALID_OPTION, () -> carillon.publish(COUNTED.of("a")));
        refused(ErrorCode.PAYLOAD_TOO_LARGE, () -> carillon.publish(NOTED.of("x".repeat(262_144))));
        refused(ErrorCode.PAYLOAD_UNWRITABLE, () -> carillon.publish(NOTED.of("a\u0000b")));
        refused(ErrorCode.INVALID_OPTION, () -> carillon.events().list("orders", "", 1_001));
        refused(ErrorCode.MALFORMED_ID, () -> carillon.events().list("orders", "1-2-3", 1));
        refused(
                ErrorCode.DUPLICATE_HANDLER,
                () -> fixture.builder()
                        .subscribe("notes", NOTED, (event, run) -> {}, Subscribe.inOrder())
                        .subscribe("notes", PLACED, (event, run) -> {}, Subscribe.inOrder()));
        assertThat(fixture.query("SELECT count(*) FROM carillon.event_store").number())
                .isZero();
    }

    private static void refused(ErrorCode code, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        CarillonException.class,
                        failure -> assertThat(failure.code()).isEqualTo(code));
    }

    @Test
    void a_run_of_an_event_can_be_listed_with_its_key() {
        Carillon client = fixture.client(builder ->
                builder.subscribe("notes", NOTED, (event, run) -> received.add(event.data()), Subscribe.inAnyOrder()));
        EventId event = id(client.publish(NOTED.of("a")));
        Carillon.schema(fixture.database().pool(1)).validate();

        client.runDue(Duration.ofSeconds(10));

        assertThat(client.runs().list(RunFilter.all())).extracting(Run::id).hasSize(1);
        assertThat(fixture.query("SELECT key FROM carillon.run_history").text()).isEqualTo("event:" + event.value());
    }
}
