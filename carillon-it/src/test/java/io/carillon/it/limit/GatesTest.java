package io.carillon.it.limit;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.HandlerOptions;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.RunContext;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
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

/** Concurrency keys, FIFO keys and overlap policies of schedules, on real nodes. */
@CarillonTest
class GatesTest {
    record Step(int number, int millis) {}

    private static final HandlerType<Step> STEP = HandlerType.of("step", Step.class);

    private final ApiFixture fixture;
    private final AtomicInteger live = new AtomicInteger();
    private final AtomicInteger maxLive = new AtomicInteger();
    private final List<Integer> done = new CopyOnWriteArrayList<>();
    private final CountDownLatch never = new CountDownLatch(1);

    GatesTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private void step(Step step, RunContext run) throws Exception {
        maxLive.accumulateAndGet(live.incrementAndGet(), Math::max);
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
                HandlerOptions.defaults()
                        .retry(Retry.exponential(Duration.ofMillis(20)).attempts(3)));
    }

    private static List<Step> numbers(int count, int millis) {
        return IntStream.range(0, count).mapToObj(i -> new Step(i, millis)).toList();
    }

    @Test
    void a_concurrency_key_limits_the_running_runs_across_all_nodes() {
        Carillon carillon = fixture.node(this::steps);
        fixture.node(this::steps);

        carillon.enqueueAll(STEP, numbers(60, 10), Enqueue.now().concurrencyKey("customer 7", 3));

        eventually().until(() -> done.size() == 60);
        assertThat(maxLive.get()).isEqualTo(3);
    }

    @Test
    void runs_of_a_fifo_key_execute_in_order_one_at_a_time_despite_retries() {
        Carillon carillon = fixture.node(this::steps);
        fixture.node(this::steps);

        for (Step step : numbers(25, 0))
            carillon.enqueue(STEP, step, Enqueue.now().fifoKey("account"));

        eventually().until(() -> done.size() == 25);
        assertThat(done).isSorted();
        assertThat(maxLive.get()).isEqualTo(1);
    }

    @Test
    void runs_that_wait_for_a_key_delay_no_others() {
        Carillon carillon = fixture.node(this::steps);
        carillon.enqueueAll(STEP, numbers(200, 5_000), Enqueue.now().concurrencyKey("slow"));
        eventually().until(() -> live.get() == 1);

        carillon.enqueue(STEP, new Step(1_000, 0));

        eventually().until(() -> done.contains(1_000));
    }

    @Test
    void runs_of_a_callers_transaction_and_delayed_runs_wait_for_their_key_too() throws Exception {
        fixture.node(this::steps);
        Carillon client = fixture.client(this::steps);
        try (Connection connection = fixture.database().dataSource().getConnection()) {
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
    void run_due_promotes_gated_runs_too() {
        Carillon client = fixture.client(this::steps);
        client.enqueueAll(STEP, numbers(3, 0), Enqueue.now().fifoKey("k"));

        assertThat(client.runDue(Duration.ofSeconds(20)).processed()).isEqualTo(3);
        assertThat(done).containsExactly(0, 1, 2);
    }

    @Test
    void overlap_policy_skip_prevents_overlap_and_records_skipped_ticks_in_the_ledger() {
        Carillon carillon = fixture.node(this::steps);
        Instant before = fixture.database().clock().now();
        carillon.schedules()
                .upsert(
                        "slow",
                        When.every(Duration.ofSeconds(1)),
                        STEP,
                        new Step(0, 1_500),
                        ScheduleOptions.defaults().overlap(OverlapPolicy.SKIP));

        eventually().until(() -> done.size() >= 2);
        carillon.schedules().pause("slow");

        assertThat(maxLive.get()).isEqualTo(1);
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
    void overlap_policy_cancel_previous_starts_a_run_for_each_instant() {
        Carillon carillon = fixture.node(this::steps);
        carillon.schedules()
                .upsert(
                        "restless",
                        When.every(Duration.ofSeconds(1)),
                        STEP,
                        new Step(0, 60_000),
                        ScheduleOptions.defaults().overlap(OverlapPolicy.CANCEL_PREVIOUS));

        eventually()
                .until(() -> fixture.query("SELECT count(*) FROM carillon.run_history"
                                        + " WHERE state = 'cancelled' AND attempt = 1")
                                .number()
                        >= 2);
        assertThat(maxLive.get()).isEqualTo(1);
    }
}
