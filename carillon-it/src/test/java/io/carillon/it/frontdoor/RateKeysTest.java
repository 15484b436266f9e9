package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.RunContext;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rate keys on real nodes; the starts are those of the database. */
@CarillonTest
class RateKeysTest {
    record Call(String customer) {}

    private static final HandlerType<Call> CALL = HandlerType.of("call", Call.class);
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final int RATE = 10;

    private final House house;
    private final Map<String, List<Double>> starts = new ConcurrentHashMap<>();

    RateKeysTest(TestDatabase database) {
        this.house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
    }

    private void call(Call call, RunContext run) {
        double started = Double.parseDouble(house.one(
                "SELECT extract(epoch FROM started_at) FROM carillon.run WHERE id = ?::uuid",
                run.id().value().toString()));
        starts.computeIfAbsent(call.customer(), customer -> new CopyOnWriteArrayList<>())
                .add(started);
    }

    private CarillonBuilder calls(CarillonBuilder builder) {
        return builder.handle(CALL, this::call);
    }

    @Test
    void three_nodes_keep_to_the_rate_of_a_key_in_every_stretch_and_use_it() {
        Carillon carillon = house.node(this::calls);
        house.node(this::calls);
        house.node(this::calls);

        for (String customer : List.of("acme", "bolt"))
            carillon.enqueueAll(
                    CALL,
                    Collections.nCopies(4 * RATE, new Call(customer)),
                    Enqueue.now().rateKey(customer, RATE, SECOND));

        eventually()
                .until(() -> starts.size() == 2 && starts.values().stream().allMatch(all -> all.size() == 4 * RATE));
        starts.forEach((customer, all) -> {
            List<Double> ordered = all.stream().sorted().toList();
            for (double from : ordered)
                assertThat(ordered.stream().filter(start -> start >= from && start < from + 1))
                        .as("starts of %s from %s on: %s", customer, from, ordered)
                        .hasSizeLessThanOrEqualTo(RATE);
            double took = ordered.get(ordered.size() - 1) - ordered.get(0);
            assertThat(3 * RATE / took).as("starts a second of " + customer).isGreaterThan(0.8 * RATE);
        });
    }

    @Test
    void the_keeper_of_a_key_is_replaced_when_it_stops() {
        Carillon first = house.node(this::calls);
        first.enqueueAll(
                CALL, Collections.nCopies(6, new Call("acme")), Enqueue.now().rateKey("acme", 2, SECOND));
        eventually().until(() -> starts.containsKey("acme"));
        house.node(this::calls);

        first.close();

        eventually().until(() -> starts.get("acme").size() == 6);
    }
}
