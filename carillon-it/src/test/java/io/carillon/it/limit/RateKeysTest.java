package io.carillon.it.limit;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.it.fixture.ApiFixture;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Rate keys on real nodes, checked against the start times that the database recorded. */
@CarillonTest
class RateKeysTest {
    record Call(String customer) {}

    private static final HandlerType<Call> CALL = HandlerType.of("call", Call.class);
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final int RATE = 10;

    private final ApiFixture fixture;
    private final Map<String, List<Double>> starts = new ConcurrentHashMap<>();

    RateKeysTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private void call(Call call, RunContext run) {
        double started = Double.parseDouble(fixture.query(
                        "SELECT extract(epoch FROM started_at) FROM carillon.run WHERE id = ?::uuid",
                        run.id().value().toString())
                .text());
        starts.computeIfAbsent(call.customer(), customer -> new CopyOnWriteArrayList<>())
                .add(started);
    }

    private CarillonBuilder calls(CarillonBuilder builder) {
        return builder.handle(CALL, this::call);
    }

    @Tag("slow")
    @Test
    void three_nodes_respect_the_rate_of_a_key_in_every_period_and_use_80_percent_of_it() {
        Carillon carillon = fixture.node(this::calls);
        fixture.node(this::calls);
        fixture.node(this::calls);

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
                        .as("starts of %s in the second from %s: %s", customer, from, ordered)
                        .hasSizeLessThanOrEqualTo(RATE);
            double took = ordered.get(ordered.size() - 1) - ordered.get(0);
            assertThat(3 * RATE / took).as("starts per second of " + customer).isGreaterThan(0.8 * RATE);
        });
    }

    @Tag("slow")
    @Test
    void the_node_that_promotes_a_key_is_replaced_when_it_stops() {
        Carillon first = fixture.node(this::calls);
        first.enqueueAll(
                CALL, Collections.nCopies(6, new Call("acme")), Enqueue.now().rateKey("acme", 2, SECOND));
        eventually().until(() -> starts.containsKey("acme"));
        fixture.node(this::calls);

        first.close();

        eventually().until(() -> starts.get("acme").size() == 6);
    }
}
