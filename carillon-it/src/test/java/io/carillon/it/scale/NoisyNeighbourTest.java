package io.carillon.it.scale;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.HandlerOptions;
import io.carillon.NodeConfig;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The delay that a long backlog in one queue causes for a single run of another queue. */
@CarillonTest
class NoisyNeighbourTest {
    record Piece(int millis) {}

    record Call(int number) {}

    private static final HandlerType<Piece> FLOOD = HandlerType.of("flood", Piece.class);
    private static final HandlerType<Call> CALL = HandlerType.of("call", Call.class);
    private static final int SLOTS = 50;
    private static final int CALLS = 25;

    private final ApiFixture fixture;
    private final AtomicLong flooded = new AtomicLong();
    private final AtomicInteger live = new AtomicInteger();
    private final Map<Integer, CountDownLatch> calls = new ConcurrentHashMap<>();
    private final Map<Integer, Long> floodedAt = new ConcurrentHashMap<>();
    private final CountDownLatch release = new CountDownLatch(1);
    private int numbers;

    NoisyNeighbourTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Tag("slow")
    @Test
    void a_backlog_of_short_runs_lets_a_single_run_of_another_queue_through() {
        // Only runs that were claimed before the single run was enqueued start before it.
        assertThat(overtaken(500_000, 0)).isLessThanOrEqualTo(500);
    }

    @Tag("slow")
    @Test
    void a_backlog_of_long_runs_lets_a_single_run_of_another_queue_through() {
        assertThat(overtaken(10_000, 300)).isLessThanOrEqualTo(10);
    }

    @Tag("slow")
    @Test
    void a_run_does_not_wait_for_30_second_runs_in_all_slots_that_their_queue_may_use() {
        assertThat(overtaken(10_000, 30_000)).isZero();
    }

    @Test
    void a_run_due_just_after_a_large_batch_does_not_wait_for_the_whole_batch() {
        Instant batchDue = Instant.now().plusSeconds(3);
        Carillon client = fixture.client(this::handlers);
        client.enqueueAll(FLOOD, Collections.nCopies(10_000, new Piece(10)), Enqueue.at(batchDue));
        calls.put(0, new CountDownLatch(1));
        client.enqueue(CALL, new Call(0), Enqueue.at(batchDue.plusMillis(100)));

        // Only the first poll can find the run: polls are 30 s apart, and the run was stored before the node started.
        NodeConfig config =
                NodeConfig.defaults().pollInterval(Duration.ofSeconds(30)).shutdownTimeout(Duration.ofSeconds(2));
        fixture.node(builder -> handlers(builder.config(config)));

        eventually().until(() -> floodedAt.containsKey(0));
        assertThat(floodedAt.get(0))
                .as("batch runs that started before the single run")
                .isLessThan(5_000);
    }

    /** Returns the median number of backlog runs that start between the enqueue of a single run and its start. */
    private long overtaken(int backlog, int millis) {
        Carillon node = fixture.node(this::handlers);
        node.queues().pause("flood");
        for (int left = backlog; left > 0; left -= 50_000)
            node.enqueueAll(FLOOD, Collections.nCopies(Math.min(left, 50_000), new Piece(millis)));
        calls(node); // warm-up: the first calls are slow
        node.queues().resume("flood");
        if (millis >= 30_000) eventually().until(() -> live.get() >= SLOTS * 9 / 10);
        else eventually().until(() -> flooded.get() > 2 * SLOTS);
        List<Long> overtaken = calls(node);
        release.countDown();
        assertThat(fixture.query("SELECT count(*) FROM (SELECT 1 FROM carillon.run WHERE queue = 'flood' LIMIT 1) s")
                        .number())
                .as("runs left in the backlog")
                .isPositive();
        return overtaken.stream().sorted().toList().get(overtaken.size() / 2);
    }

    private CarillonBuilder handlers(CarillonBuilder builder) {
        return builder.concurrency(SLOTS)
                .handle(
                        FLOOD,
                        (piece, run) -> flood(piece),
                        HandlerOptions.defaults().queue("flood"))
                .handle(
                        CALL,
                        (call, run) -> started(call),
                        HandlerOptions.defaults().queue("calls"));
    }

    private void flood(Piece piece) throws InterruptedException {
        flooded.incrementAndGet();
        if (piece.millis() == 0) return;
        live.incrementAndGet();
        try {
            // From half to one and a half times as long; otherwise all slots would become free at the same moment.
            long millis = piece.millis() / 2 + ThreadLocalRandom.current().nextLong(piece.millis());
            if (release.await(millis, TimeUnit.MILLISECONDS)) return;
        } finally {
            live.decrementAndGet();
        }
    }

    private void started(Call call) {
        floodedAt.put(call.number(), flooded.get());
        calls.get(call.number()).countDown();
    }

    private static void await(CountDownLatch started) {
        try {
            assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    /** Enqueues calls one by one, each after the call before has started. */
    private List<Long> calls(Carillon node) {
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(
                    5_000 + ThreadLocalRandom.current().nextInt(5_000)));
            int number = numbers++;
            CountDownLatch started = new CountDownLatch(1);
            calls.put(number, started);
            long before = flooded.get();
            node.enqueue(CALL, new Call(number));
            await(started);
            all.add(floodedAt.get(number) - before);
        }
        return all;
    }
}
