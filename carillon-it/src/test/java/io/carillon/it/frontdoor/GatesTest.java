package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunContext;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Keys that limit and order runs, and schedules that do not overlap, on real nodes. */
@CarillonTest
class GatesTest {
    record Step(int number, int millis) {}

    private static final HandlerType<Step> STEP = HandlerType.of("step", Step.class);

    private final House house;
    private final AtomicInteger live = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final List<Integer> done = new CopyOnWriteArrayList<>();
    private final CountDownLatch never = new CountDownLatch(1);

    GatesTest(TestDatabase database) {
        this.house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
    }

    private void step(Step step, RunContext run) throws Exception {
        most.accumulateAndGet(live.incrementAndGet(), Math::max);
        try {
            if (never.await(step.millis(), TimeUnit.MILLISECONDS)) throw new AssertionError();
            if (step.number() % 7 == 3 && run.attempt() == 1) throw new IllegalStateException("once more");
            done.add(step.number());
        } finally {
            live.decrementAndGet();
        }
    }

    private CarillonBuilder steps(CarillonBuilder builder) {
        return builder.handle(
                STEP,
                this::step,
                options ->
                        options.retry(Retry.exponential(Duration.ofMillis(20)).attempts(3)));
    }

    private static List<Step> numbers(int count, int millis) {
        return IntStream.range(0, count).mapToObj(i -> new Step(i, millis)).toList();
    }

    @Test
    void no_more_of_a_key_run_at_a_time_than_its_limit_says_on_any_node() {
        Carillon carillon = house.node(this::steps);
        house.node(this::steps);

        carillon.enqueueAll(STEP, numbers(60, 10), Enqueue.now().concurrencyKey("customer 7", 3));

        eventually().until(() -> done.size() == 60);
        assertThat(most.get()).isEqualTo(3);
    }

    @Test
    void a_strict_line_runs_one_after_the_other_in_order_through_retries() {
        Carillon carillon = house.node(this::steps);
        house.node(this::steps);

        for (Step step : numbers(25, 0))
            carillon.enqueue(STEP, step, Enqueue.now().fifoKey("account"));

        eventually().until(() -> done.size() == 25);
        assertThat(done).isSorted();
        assertThat(most.get()).isEqualTo(1);
    }

    @Test
    void what_waits_behind_a_key_keeps_nothing_else_waiting() {
        Carillon carillon = house.node(this::steps);
        carillon.enqueueAll(STEP, numbers(200, 5_000), Enqueue.now().concurrencyKey("slow"));
        eventually().until(() -> live.get() == 1);

        carillon.enqueue(STEP, new Step(1_000, 0));

        eventually().until(() -> done.contains(1_000));
    }

    @Test
    void stored_in_the_callers_transaction_or_for_later_it_waits_its_turn_too() throws Exception {
        house.node(this::steps);
        Carillon client = house.client(this::steps);
        try (Connection connection = house.database().dataSource().getConnection()) {
            connection.setAutoCommit(false);
            client.in(connection).enqueueAll(STEP, numbers(3, 1), Enqueue.now().fifoKey("k"));
            connection.commit();
        }
        client.enqueue(
                STEP, new Step(100, 1), Enqueue.after(Duration.ofMillis(300)).fifoKey("k"));

        eventually().until(() -> done.size() == 4);
        assertThat(done).isSorted();
    }

    @Test
    void a_tick_opens_gates_as_well() {
        Carillon client = house.client(this::steps);
        client.enqueueAll(STEP, numbers(3, 0), Enqueue.now().fifoKey("k"));

        assertThat(client.tick(Duration.ofSeconds(20)).processed()).isEqualTo(3);
        assertThat(done).containsExactly(0, 1, 2);
    }

    @Test
    void a_schedule_that_skips_never_overlaps_and_says_so_in_its_ledger() {
        Carillon carillon = house.node(this::steps);
        Instant before = house.database().clock().now();
        carillon.schedules()
                .upsert(
                        "slow",
                        When.every(Duration.ofSeconds(1)),
                        STEP,
                        new Step(0, 1_500),
                        options -> options.overlap(Overlap.SKIP));

        eventually().until(() -> done.size() >= 2);
        carillon.schedules().pause("slow", null, null);

        assertThat(most.get()).isEqualTo(1);
        eventually().untilAsserted(() -> {
            List<LedgerEntry> ledger = carillon.schedules().ledger("slow", before, before.plusSeconds(60));
            assertThat(ledger)
                    .anyMatch(entry -> entry.state().equals("skipped")
                            && "overlap: an earlier run had not ended".equals(entry.reason()));
            assertThat(ledger)
                    .filteredOn(entry -> entry.state().equals("succeeded"))
                    .hasSizeGreaterThanOrEqualTo(2);
        });
    }

    @Test
    void a_schedule_that_cancels_the_previous_run_starts_each_instant() {
        Carillon carillon = house.node(this::steps);
        carillon.schedules()
                .upsert(
                        "restless",
                        When.every(Duration.ofSeconds(1)),
                        STEP,
                        new Step(0, 60_000),
                        options -> options.overlap(Overlap.CANCEL_PREVIOUS));

        eventually()
                .until(() -> house.number(
                                "SELECT count(*) FROM carillon.run_history WHERE state = 'cancelled' AND attempt = 1")
                        >= 2);
        assertThat(most.get()).isEqualTo(1);
    }
}
