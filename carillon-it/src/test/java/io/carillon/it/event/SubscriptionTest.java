package io.carillon.it.event;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.HandlerOptions;
import io.carillon.event.EventFilter;
import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.EventType;
import io.carillon.event.Events;
import io.carillon.event.PublishResult.Published;
import io.carillon.event.Subscribe;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionChange;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.event.Topic;
import io.carillon.event.TopicInfo;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Payload;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Subscriptions as data, in many projects, and the place that they share. */
@CarillonTest
class SubscriptionTest {
    private static final Topic ORDERS = Topic.named("orders");
    private static final EventType<String> NOTED = ORDERS.event("order.noted", String.class);
    private static final EventType<String> CLOSED = ORDERS.event("order.closed", String.class);

    private final ApiFixture fixture;
    private final Queue<String> received = new ConcurrentLinkedQueue<>();

    SubscriptionTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Carillon node() {
        return fixture.node(builder -> builder.subscribe(
                "notes",
                EventPattern.topic("orders"),
                (event, run) -> received.add(run.project() + " " + text(event.data())),
                Subscribe.inOrder()));
    }

    private static String text(Payload data) {
        return new String(data.bytes(), StandardCharsets.UTF_8).replace("\"", "");
    }

    private static SubscriptionDefinition toNotes(String name, EventPattern pattern) {
        return SubscriptionDefinition.of(name, pattern, new SubscriptionTarget.Handler("notes"), Subscribe.inOrder());
    }

    private long cursors() {
        return fixture.query("SELECT count(*) FROM carillon.event_cursor").number();
    }

    @Test
    void a_definition_creates_changes_and_refuses() {
        Events events = fixture.client(builder -> builder).events();
        SubscriptionDefinition definition = toNotes("mine", EventPattern.topic("orders"));
        SubscriptionDefinition other =
                toNotes("mine", EventPattern.of("orders", "order.*")).queue("slow");

        assertThat(events.subscribe(definition, 3)).isEqualTo(new SubscriptionChange.VersionConflict(3, 0));
        assertThat(events.subscribe(definition, 0)).isEqualTo(new SubscriptionChange.Created(1));
        assertThat(events.subscribe(definition)).isEqualTo(new SubscriptionChange.Unchanged(1));
        assertThat(events.subscribe(other, 0)).isEqualTo(new SubscriptionChange.VersionConflict(0, 1));
        assertThat(events.subscribe(other, 1)).isEqualTo(new SubscriptionChange.Updated(2));
        Subscription stored = events.subscription("mine").orElseThrow();
        assertThat(stored.definition()).isEqualTo(other);
        assertThat(stored.owner()).isEqualTo(Subscription.Owner.API);
        assertThat(events.pause("mine", "audit", "ann")).isTrue();
        assertThat(events.subscription("mine").orElseThrow().pause())
                .extracting(Subscription.Pause::by)
                .isEqualTo("ann");
        assertThat(events.subscriptions("", 10)).hasSize(1);
        assertThat(events.subscriptions("mine", 10)).isEmpty();
        assertThatThrownBy(() -> events.subscribe(definition.queue("endpoint.shop")))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("endpoint.shop");
    }

    @Test
    void a_node_delivers_to_stored_subscriptions_of_all_projects() {
        Carillon carillon = node();
        for (String project : List.of("p1", "p2", "p3"))
            carillon.project(project).events().subscribe(toNotes("from-" + project, EventPattern.topic("ord*")));
        eventually().untilAsserted(() -> assertThat(cursors()).isZero());

        carillon.project("p1").publish(NOTED.of("a"));
        carillon.project("p3").publish(NOTED.of("b"));
        carillon.project("p4").publish(NOTED.of("c"));

        eventually().untilAsserted(() -> assertThat(received).containsExactlyInAnyOrder("p1 a", "p3 b"));
        assertThat(cursors()).isZero();
    }

    @Test
    void a_subscription_that_a_transaction_changes_delays_no_other() throws Exception {
        Carillon carillon = node();
        Events events = carillon.events();
        events.subscribe(toNotes("closings", EventPattern.of("orders", "order.closed")));
        eventually().untilAsserted(() -> assertThat(cursors()).isZero());
        EventId skipped;
        try (Connection connection = fixture.database().pool(1).getConnection()) {
            connection.setAutoCommit(false);
            carillon.in(connection).events().pause("closings", "audit");

            skipped = ((Published) carillon.publish(CLOSED.of("1"))).id();
            carillon.publish(CLOSED.of("2"));
            carillon.publish(NOTED.of("3"));

            eventually()
                    .untilAsserted(() ->
                            assertThat(received).containsExactlyInAnyOrder("default 1", "default 2", "default 3"));
            assertThat(cursors()).isEqualTo(1);
            assertThat(carillon.in(connection).events().skip("closings", skipped))
                    .isTrue();
            connection.commit();
        }
        received.clear();
        assertThat(events.subscription("closings").orElseThrow().lag().count()).isPositive();

        events.resume("closings");

        eventually().untilAsserted(() -> assertThat(received).containsExactly("default 2"));
        eventually().untilAsserted(() -> assertThat(cursors()).isZero());
        assertThat(events.skip("closings", skipped)).isFalse();
    }

    @Test
    void a_subscription_that_a_transaction_replaces_delays_no_other() throws Exception {
        Carillon carillon = node();
        carillon.events().subscribe(toNotes("closings", EventPattern.of("orders", "order.closed")));
        eventually().untilAsserted(() -> assertThat(cursors()).isZero());
        try (Connection connection = fixture.database().pool(1).getConnection()) {
            connection.setAutoCommit(false);
            carillon.in(connection).events().unsubscribe("closings");
            carillon.in(connection).events().subscribe(toNotes("closings", EventPattern.of("orders", "order.closed")));
            Instant began = Instant.now();

            carillon.publish(CLOSED.of("1"));

            eventually().untilAsserted(() -> assertThat(received).contains("default 1"));
            // The dispatch waited for no lock, whose timeout is two seconds.
            assertThat(Duration.between(began, Instant.now())).isLessThan(Duration.ofSeconds(2));
            connection.commit();
        }
        carillon.publish(CLOSED.of("2"));

        eventually()
                .untilAsserted(() ->
                        assertThat(received).filteredOn("default 2"::equals).hasSize(2));
        // The row of the removed subscription is ignored.
        assertThat(carillon.events()
                        .subscription("closings")
                        .orElseThrow()
                        .lag()
                        .count())
                .isZero();
    }

    @Test
    void a_subscription_created_in_a_transaction_starts_when_the_snapshot_was_stored() throws Exception {
        Carillon carillon = node();
        try (Connection connection = fixture.database().pool(1).getConnection()) {
            connection.setAutoCommit(false);
            carillon.in(connection).events().subscribe(toNotes("late", EventPattern.topic("orders")));
            carillon.publish(NOTED.of("1"));
            eventually().untilAsserted(() -> assertThat(received).containsExactly("default 1"));
            connection.commit();
        }

        carillon.publish(NOTED.of("2"));

        eventually().untilAsserted(() -> assertThat(received).hasSize(4));
        assertThat(received).containsExactlyInAnyOrder("default 1", "default 1", "default 2", "default 2");
    }

    @Test
    void readers_filter_by_type_and_key_and_see_one_order() {
        Carillon carillon = node();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            EventType<String> type = i % 3 == 0 ? CLOSED : NOTED;
            carillon.publish(type.of("" + i).key("k" + i % 2));
            if (i % 3 == 0 && i % 2 == 0) expected.add("" + i);
        }
        eventually().untilAsserted(() -> assertThat(received).hasSize(60));
        EventFilter filter = EventFilter.topic("orders").type("order.c*").key("k0");

        List<String> read = new ArrayList<>();
        List<String> positions = new ArrayList<>();
        Events.Page page = carillon.events().list(filter, "", 3);
        while (true) {
            page.events().forEach(event -> read.add(text(event.data())));
            positions.addAll(page.positions());
            if (page.atEnd()) break;
            page = carillon.events().list(filter, page.next(), 3);
        }

        assertThat(read).containsExactlyElementsOf(expected);
        assertThat(carillon.events().list(filter, positions.get(4), 2).events())
                .extracting(event -> text(event.data()))
                .containsExactly(expected.get(5), expected.get(6));
        assertThat(carillon.events().latest(filter, 2))
                .extracting(event -> text(event.data()))
                .containsExactly(expected.get(9), expected.get(8));
        assertThat(carillon.events().list(filter, carillon.events().end(), 3).events())
                .isEmpty();
        assertThat(carillon.events().topics())
                .extracting(TopicInfo::name, TopicInfo::lastMinute)
                .containsExactly(tuple("orders", 60L));
    }

    @Test
    void the_runs_of_an_event_are_found_while_they_wait_and_after_they_ended() {
        Carillon carillon = fixture.client(builder ->
                builder.subscribe("notes", NOTED, (event, run) -> received.add(event.data()), Subscribe.inAnyOrder()));
        carillon.events().subscribe(toNotes("more", EventPattern.topic("orders")));
        EventId event = ((Published) carillon.publish(NOTED.of("a"))).id();
        carillon.publish(NOTED.of("b"));
        carillon.queues().pause("notes");
        carillon.runDue(Duration.ofSeconds(10));

        assertThat(carillon.events().deliveries(event, 10)).hasSize(2);
        List<Run> waiting = carillon.events().deliveries(event, 10);
        carillon.queues().resume("notes");
        carillon.runDue(Duration.ofSeconds(10));

        assertThat(carillon.events().deliveries(event, 10))
                .extracting(Run::id)
                .containsExactlyElementsOf(waiting.stream().map(Run::id).toList());
        assertThat(received).hasSize(4);
    }

    @Test
    void an_event_of_a_schedule_says_which_instant_it_stands_for() {
        Queue<Instant> planned = new ConcurrentLinkedQueue<>();
        Carillon carillon = fixture.node(builder -> builder.subscribe(
                "notes", NOTED, (event, run) -> planned.add(event.plannedAt()), Subscribe.inAnyOrder()));

        carillon.schedules()
                .upsert(
                        "every-second",
                        When.every(Duration.ofSeconds(1)),
                        NOTED.of("tick").key("\"quoted\\ key\""),
                        ScheduleOptions.defaults());

        eventually().untilAsserted(() -> assertThat(planned).hasSizeGreaterThan(1));
        assertThat(planned)
                .doesNotHaveDuplicates()
                .allMatch(instant -> instant.equals(instant.truncatedTo(ChronoUnit.SECONDS)));
        assertThat(carillon.events().latest(EventFilter.topic("orders"), 1).get(0))
                .satisfies(event -> {
                    assertThat(event.schedule()).isEqualTo("every-second");
                    assertThat(event.key()).isEqualTo("\"quoted\\ key\"");
                });
    }

    @Test
    void a_dead_run_keeps_the_data_of_its_event() {
        String large = "x".repeat(50_000);
        AtomicBoolean works = new AtomicBoolean();
        Carillon carillon = fixture.client(builder -> builder.subscribe(
                "notes",
                NOTED,
                (event, run) -> {
                    if (!works.get()) throw new IllegalStateException("broken");
                    received.add(event.data());
                },
                Subscribe.inAnyOrder(),
                HandlerOptions.defaults()
                        .retry(Retry.exponential(Duration.ofMillis(1)).attempts(1))));
        EventId event = ((Published) carillon.publish(NOTED.of(large))).id();
        carillon.runDue(Duration.ofSeconds(10));
        assertThat(carillon.events().deliveries(event, 10))
                .extracting(Run::state)
                .containsExactly(RunState.DEAD);

        fixture.database().execute("DELETE FROM carillon.event_store");
        works.set(true);
        carillon.runs().redrive(carillon.events().deliveries(event, 10).get(0).id());
        carillon.runDue(Duration.ofSeconds(10));

        assertThat(received).containsExactly(large);
    }
}
