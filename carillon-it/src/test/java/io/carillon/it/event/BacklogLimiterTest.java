package io.carillon.it.event;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.PauseOptions;
import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.EventType;
import io.carillon.event.Subscribe;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.event.Topic;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Past events, of a new subscription or of a replay, do not fill the table of runs. */
@CarillonTest
class BacklogLimiterTest {
    private static final EventType<String> NOTED = Topic.named("orders").event("order.noted", String.class);
    private static final EventType<String> OTHER = Topic.named("others").event("other.noted", String.class);
    private static final int EVENTS = 10_600;
    private static final int MAX_RUNS = 10_000;

    private final ApiFixture fixture;
    private final Queue<EventId> received = new ConcurrentLinkedQueue<>();
    private final Queue<String> others = new ConcurrentLinkedQueue<>();

    BacklogLimiterTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private long runs() {
        return fixture.query("SELECT count(*) FROM carillon.run WHERE queue = 'notes'")
                .number();
    }

    /** Removes all runs, as if they had ended. */
    private void endAll() {
        fixture.query("WITH ended AS (DELETE FROM carillon.run RETURNING 1) SELECT count(*) FROM ended");
    }

    /** Waits for rounds of the dispatcher that began after this call. */
    private void awaitRounds(Carillon carillon) {
        for (int i = 0; i < 2; i++) {
            int before = others.size();
            carillon.publish(OTHER.of("x"));
            eventually().until(() -> others.size() > before);
        }
    }

    private Subscription notes(Carillon carillon) {
        return carillon.events().subscription("notes").orElseThrow();
    }

    @Tag("slow")
    @Test
    void past_events_create_runs_only_while_fewer_than_10_000_wait() {
        Carillon client = fixture.client(builder -> builder);
        client.events().publishAll(Collections.nCopies(EVENTS, NOTED.of("past")));
        client.queues().pause("notes", PauseOptions.untilResumed());
        Carillon carillon = fixture.node(builder -> builder.subscribe(
                        "notes",
                        NOTED,
                        (event, run) -> received.add(event.id()),
                        Subscribe.inAnyOrder().fromBeginning())
                .subscribe("others", OTHER, (event, run) -> others.add(event.data()), Subscribe.inAnyOrder()));

        eventually().untilAsserted(() -> assertThat(runs()).isGreaterThan(MAX_RUNS * 9 / 10));
        awaitRounds(carillon);

        long limited = runs();
        assertThat(limited).isLessThanOrEqualTo(MAX_RUNS);
        assertThat(notes(carillon).lag().count()).isEqualTo(EVENTS - limited);
        carillon.events()
                .subscribe(SubscriptionDefinition.of(
                        "beside",
                        EventPattern.topic("others"),
                        new SubscriptionTarget.Handler("others"),
                        Subscribe.inAnyOrder().fromBeginning()));
        int before = others.size();
        eventually().untilAsserted(() -> assertThat(others).hasSize(2 * before));
        assertThat(runs()).isEqualTo(limited);

        carillon.queues().resume("notes");

        eventually().untilAsserted(() -> assertThat(received).hasSize(EVENTS).doesNotHaveDuplicates());
        assertThat(notes(carillon).lag().count()).isZero();
    }

    @Test
    void a_replay_goes_on_as_its_runs_end() {
        Carillon carillon = fixture.node(builder ->
                builder.subscribe("notes", NOTED, (event, run) -> received.add(event.id()), Subscribe.inAnyOrder()));
        carillon.queues().pause("notes", PauseOptions.untilResumed());
        carillon.events().publishAll(Collections.nCopies(EVENTS, NOTED.of("past")));
        // The runs of new events have no such limit.
        eventually().untilAsserted(() -> assertThat(runs()).isEqualTo(EVENTS));
        endAll();
        Instant from = Instant.now().minus(1, ChronoUnit.HOURS);

        carillon.events().replay("notes", from, from.plus(2, ChronoUnit.HOURS));
        carillon.events().replay("notes", from, from.plus(2, ChronoUnit.HOURS));

        eventually().untilAsserted(() -> assertThat(runs()).isBetween(MAX_RUNS * 9L / 10, (long) MAX_RUNS));
        assertThat(notes(carillon).replays()).isEqualTo(2);
        endAll();
        eventually().untilAsserted(() -> assertThat(notes(carillon).replays()).isZero());
        assertThat(runs()).isBetween(1L, (long) MAX_RUNS);
    }
}
