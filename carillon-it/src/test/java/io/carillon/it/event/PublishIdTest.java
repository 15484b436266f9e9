package io.carillon.it.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.event.EventId;
import io.carillon.event.EventType;
import io.carillon.event.NewEvent;
import io.carillon.event.PublishResult;
import io.carillon.event.PublishResult.Duplicate;
import io.carillon.event.PublishResult.Published;
import io.carillon.event.Topic;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.value.Uuid7;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Payload;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Ids that publishers give events: a repeated publish stores nothing. */
@CarillonTest
class PublishIdTest {
    private static final EventType<String> NOTED = Topic.named("orders").event("order.noted", String.class);
    private static final EventType<String> COUNTED =
            Topic.named("stock").withVersions().event("stock.counted", String.class);
    private static final Instant BEFORE_MIDNIGHT = Instant.parse("2026-03-02T23:59:59Z");

    private final ApiFixture fixture;
    private final Carillon carillon;

    PublishIdTest(TestDatabase database) {
        fixture = new ApiFixture(database);
        carillon = fixture.client(builder -> builder);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private long events() {
        return fixture.query("SELECT count(*) FROM carillon.event_store").number();
    }

    @Test
    void a_repeated_publish_stores_nothing_and_names_the_first_event() {
        NewEvent<String> event = NOTED.of("a").publishId("p-1");

        EventId first = ((Published) carillon.publish(event)).id();

        assertThat(carillon.publish(event)).isEqualTo(new Duplicate(first));
        assertThat(carillon.publish(NOTED.of("b").publishId("p-2"))).isInstanceOf(Published.class);
        assertThat(carillon.project("other").publish(event)).isInstanceOf(Published.class);
        List<PublishResult> several = carillon.events()
                .publishAll(List.of(
                        event,
                        NOTED.of("c"),
                        NOTED.of("d").publishId("p-3"),
                        NOTED.of("e").publishId("p-3")));
        assertThat(several.get(0)).isEqualTo(new Duplicate(first));
        assertThat(several.get(1)).isInstanceOf(Published.class);
        assertThat(several.get(3)).isEqualTo(new Duplicate(((Published) several.get(2)).id()));
        assertThat(events()).isEqualTo(5);
    }

    @Test
    void a_transaction_that_rolls_back_frees_the_id() throws Exception {
        NewEvent<String> event = NOTED.of("a").publishId("p-1");
        try (Connection connection = fixture.database().pool(1).getConnection()) {
            connection.setAutoCommit(false);
            assertThat(carillon.in(connection).publish(event)).isInstanceOf(Published.class);
            assertThat(carillon.in(connection).publish(event)).isInstanceOf(Duplicate.class);
            connection.rollback();
        }

        assertThat(carillon.publish(event)).isInstanceOf(Published.class);
        assertThat(events()).isEqualTo(1);
    }

    @Test
    void a_version_conflict_does_not_take_the_id() {
        NewEvent<String> event = COUNTED.of("a").key("bolt").publishId("p-1");

        assertThat(carillon.publish(event.expectedVersion(3))).isInstanceOf(PublishResult.VersionConflict.class);
        assertThat(carillon.publish(event.expectedVersion(0))).isInstanceOf(Published.class);
        assertThat(carillon.publish(event.expectedVersion(0))).isInstanceOf(Duplicate.class);
    }

    @Test
    void of_publishers_at_the_same_time_one_stores_the_event() throws Exception {
        List<PublishResult> results = concurrently(IntStream.range(0, 8)
                .<Callable<PublishResult>>mapToObj(
                        i -> () -> carillon.publish(NOTED.of("a").publishId("p-1")))
                .toList());

        List<EventId> stored = results.stream()
                .filter(Published.class::isInstance)
                .map(result -> ((Published) result).id())
                .toList();
        assertThat(stored).hasSize(1);
        assertThat(results.stream().filter(Duplicate.class::isInstance))
                .hasSize(7)
                .containsOnly(new Duplicate(stored.get(0)));
        assertThat(events()).isEqualTo(1);
    }

    private static <T> List<T> concurrently(List<Callable<T>> calls) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(calls.size());
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> result : threads.invokeAll(calls)) results.add(result.get());
            return results;
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void publishers_on_both_sides_of_midnight_have_one_event() throws Exception {
        try (Storage storage =
                new PostgresStorage(fixture.database().pool(4), TickPlanner.withLookAhead(Duration.ofMinutes(2)))) {
            for (int i = 0; i < 20; i++) {
                String first = "a" + i;
                String second = "b" + i;
                List<List<PublishResult>> results = concurrently(List.of(
                        () -> storage.events().publish(List.of(event(first, 0), event(second, 0)), false),
                        () -> storage.events().publish(List.of(event(second, 2), event(first, 2)), false)));

                assertThat(results.stream().flatMap(List::stream).filter(Published.class::isInstance))
                        .hasSize(2);
            }
            assertThat(storage.events()
                            .publish(List.of(event("a0", 86_400)), false)
                            .get(0))
                    .isInstanceOf(Duplicate.class);
            assertThat(storage.events()
                            .publish(List.of(event("a0", 2 * 86_400 + 2)), false)
                            .get(0))
                    .isInstanceOf(Published.class);
            assertThat(events()).isEqualTo(41);
        }
    }

    private static EventToStore event(String publishId, long secondsLater) {
        return new EventToStore(
                        "default",
                        new EventId(Uuid7.at(BEFORE_MIDNIGHT.plusSeconds(secondsLater))),
                        "orders",
                        "order.noted",
                        null,
                        false,
                        null,
                        new Payload("1".getBytes(StandardCharsets.UTF_8), "json"))
                .publishId(publishId);
    }
}
