package io.carillon.it.event;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.event.EventPattern;
import io.carillon.event.EventType;
import io.carillon.event.Subscribe;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.event.Topic;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.util.Collections;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The events of a busy project neither delay nor hide those of others. */
@CarillonTest
class BacklogSharingTest {
    private static final EventType<String> NOTED = Topic.named("orders").event("order.noted", String.class);
    private static final EventType<String> OTHER = Topic.named("others").event("other.noted", String.class);
    private static final int SUBSCRIPTIONS = 40;
    private static final int EVENTS = 500;
    private static final int BURST_SUBSCRIPTIONS = 50;
    private static final int BURST_EVENTS = 400;

    private final TestDatabase database;
    private final ApiFixture fixture;
    private final Queue<Long> backlogs = new ConcurrentLinkedQueue<>();

    BacklogSharingTest(TestDatabase database) {
        this.database = database;
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    /** Returns how many subscriptions of the project with the long backlog have not caught up. */
    private long backlog() {
        return fixture.query("SELECT count(*) FROM carillon.event_cursor WHERE project = 'busy'")
                .number();
    }

    private void subscribe(Carillon carillon, String project, String name) {
        subscribe(carillon, project, name, "orders");
    }

    private void subscribe(Carillon carillon, String project, String name, String topics) {
        carillon.project(project)
                .events()
                .subscribe(SubscriptionDefinition.of(
                                name,
                                EventPattern.topic(topics),
                                new SubscriptionTarget.Handler(project.equals("busy") ? "absent" : "others"),
                                Subscribe.inAnyOrder().fromBeginning())
                        .queue(name));
    }

    @Test
    void the_lag_of_a_prefix_does_not_count_other_projects_and_topics() {
        Carillon carillon = fixture.client(builder -> builder);
        subscribe(carillon, "calm", "calm", "order*");
        carillon.project("busy").events().publishAll(Collections.nCopies(11_000, NOTED.of("past")));
        carillon.project("calm").events().publishAll(Collections.nCopies(11_000, OTHER.of("past")));
        carillon.project("calm").publish(NOTED.of("first"));
        carillon.project("calm")
                .publish(Topic.named("orders-late")
                        .event("order.noted", String.class)
                        .of("second"));
        fixture.query("SELECT carillon.store_event_snapshot()");

        assertThat(carillon.project("calm")
                        .events()
                        .subscription("calm")
                        .orElseThrow()
                        .lag()
                        .count())
                .isEqualTo(2);
    }

    @Test
    void many_subscriptions_of_one_project_do_not_hide_those_of_others() {
        Carillon client = fixture.client(builder -> builder);
        for (int i = 0; i < 4; i++) subscribe(client, "busy", "busy-" + i);
        client.publish(OTHER.of("newer"));
        try (PostgresStorage storage = new PostgresStorage(database.pool(1), TickPlanner.defaults())) {
            storage.eventDispatch().storeSnapshot();
            client.project("calm")
                    .events()
                    .subscribe(SubscriptionDefinition.of(
                            "calm",
                            EventPattern.topic("orders"),
                            new SubscriptionTarget.Handler("others"),
                            Subscribe.inAnyOrder()));

            assertThat(storage.eventDispatch().behind(2))
                    .extracting(cursor -> cursor.name().project())
                    .containsExactly("busy", "calm");
        }
    }

    @Test
    void a_burst_of_events_of_one_project_does_not_delay_those_of_others() {
        Carillon carillon = fixture.node(builder ->
                builder.subscribe("others", OTHER, (event, run) -> backlogs.add(backlog()), Subscribe.inAnyOrder()));
        for (int i = 0; i < BURST_SUBSCRIPTIONS; i++) subscribe(carillon, "busy", "busy-" + i);
        eventually().until(() -> backlog() == 0);

        carillon.project("busy").events().publishAll(Collections.nCopies(BURST_EVENTS, NOTED.of("new")));
        carillon.publish(OTHER.of("new"));

        eventually().untilAsserted(() -> assertThat(backlogs).hasSize(1));
        assertThat(backlogs).allSatisfy(left -> assertThat(left).isPositive());
        eventually().untilAsserted(() -> assertThat(backlog()).isZero());
        assertThat(fixture.query("SELECT count(*) FROM carillon.run WHERE project = 'busy'")
                        .number())
                .isEqualTo((long) BURST_SUBSCRIPTIONS * BURST_EVENTS);
    }

    @Test
    @Tag("slow")
    void many_patterns_of_one_project_do_not_delay_the_events_of_others() {
        Carillon carillon = fixture.node(builder ->
                builder.subscribe("others", OTHER, (event, run) -> backlogs.add(backlog()), Subscribe.inAnyOrder()));
        String type = "a".repeat(80);
        String[] types = IntStream.range(0, 20).mapToObj(i -> type + i).toArray(String[]::new);
        for (int i = 0; i < 1_000; i++)
            carillon.project("busy")
                    .events()
                    .subscribe(SubscriptionDefinition.of(
                            "busy-" + i,
                            EventPattern.of("orders", types),
                            new SubscriptionTarget.Handler("absent"),
                            Subscribe.inAnyOrder()));
        eventually().until(() -> backlog() == 0);

        EventType<String> other = Topic.named("orders").event(type, String.class);
        carillon.project("busy").events().publishAll(Collections.nCopies(4_000, other.of("new")));
        carillon.publish(OTHER.of("new"));

        eventually().untilAsserted(() -> assertThat(backlogs).hasSize(1));
        assertThat(backlogs).allSatisfy(left -> assertThat(left).isPositive());
    }

    @Test
    void new_events_and_other_projects_do_not_wait_for_a_long_backlog() {
        Carillon client = fixture.client(builder -> builder);
        client.project("busy").events().publishAll(Collections.nCopies(EVENTS, NOTED.of("past")));
        client.project("calm").publish(NOTED.of("past"));
        for (int i = 0; i < SUBSCRIPTIONS; i++) subscribe(client, "busy", "busy-" + i);
        Carillon carillon = fixture.node(builder ->
                builder.subscribe("others", OTHER, (event, run) -> backlogs.add(backlog()), Subscribe.inAnyOrder()));
        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run").number() > 0);

        subscribe(carillon, "calm", "calm");
        carillon.publish(OTHER.of("new"));

        eventually().untilAsserted(() -> assertThat(backlogs).hasSize(2));
        assertThat(backlogs).allSatisfy(left -> assertThat(left).isPositive());
        eventually().untilAsserted(() -> assertThat(backlog()).isZero());
        assertThat(fixture.query("SELECT count(*) FROM carillon.run").number())
                .isEqualTo((long) SUBSCRIPTIONS * EVENTS);
    }
}
