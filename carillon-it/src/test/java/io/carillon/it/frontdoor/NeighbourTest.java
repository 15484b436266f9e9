package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.engine.EngineConfig;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One queue has a backlog that will last; what that costs a single run of another queue. */
@CarillonTest
class NeighbourTest {
    record Piece(int millis) {}

    record Call(int number) {}

    private static final HandlerType<Piece> FLOOD = HandlerType.of("flood", Piece.class);
    private static final HandlerType<Call> CALL = HandlerType.of("call", Call.class);
    private static final int SLOTS = 50;
    private static final int TRIES = 15;

    private final House house;
    private final AtomicLong flooded = new AtomicLong();
    private final AtomicInteger live = new AtomicInteger();
    private final Map<Integer, CountDownLatch> calls = new ConcurrentHashMap<>();
    private final Map<Integer, Long> startedAt = new ConcurrentHashMap<>();
    private final Map<Integer, Long> floodedAt = new ConcurrentHashMap<>();
    private final CountDownLatch never = new CountDownLatch(1);
    private int numbers;

    NeighbourTest(TestDatabase database) {
        this.house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
    }

    /** How long a call waited for its start, and how many of the flood were started meanwhile. */
    private record Waited(double millis, long overtaken) {}

    private record Medians(double alone, double crowded, long overtaken) {
        double ratio() {
            return crowded / alone;
        }
    }

    @Tag("slow")
    @Test
    void a_backlog_of_short_runs_lets_a_single_run_of_another_queue_through() {
        // What was claimed before it came, and no further claim.
        assertThat(medians(100_000, 0).overtaken()).isLessThanOrEqualTo(500);
    }

    @Tag("slow")
    @Test
    void a_backlog_of_long_runs_lets_a_single_run_of_another_queue_through() {
        assertThat(medians(10_000, 300).overtaken()).isLessThanOrEqualTo(10);
    }

    @Test
    @Tag("slow")
    void a_million_short_runs_do_not_double_the_time_until_a_single_run_of_another_queue_starts() {
        assertThat(medians(1_000_000, 0).ratio()).isLessThanOrEqualTo(2);
    }

    @Test
    @Tag("slow")
    void a_million_long_runs_delay_a_single_run_of_another_queue_until_a_slot_is_free_and_no_longer() {
        Medians medians = medians(1_000_000, 1_000);

        assertThat(medians.crowded()).isLessThanOrEqualTo(2 * medians.alone() + 2 * 1_000.0 / SLOTS);
    }

    @Test
    void a_run_that_is_due_in_the_midst_of_many_does_not_wait_for_all_of_them() {
        Instant herd = Instant.now().plusSeconds(3);
        Carillon desk = house.client(this::handlers);
        desk.enqueueAll(FLOOD, Collections.nCopies(10_000, new Piece(10)), Enqueue.at(herd));
        calls.put(0, new CountDownLatch(1));
        desk.enqueue(CALL, new Call(0), Enqueue.at(herd.plusMillis(100)));

        // No look helps it but the first, and nobody hints: it was there before the node.
        EngineConfig config = EngineConfig.defaults();
        Duration rarely = Duration.ofSeconds(30);
        house.node(builder -> handlers(builder.config(
                config.with(new EngineConfig.Pace(rarely, config.pace().plan(), Duration.ofSeconds(2))))));

        eventually().until(() -> floodedAt.containsKey(0));
        assertThat(floodedAt.get(0)).as("of 10,000 started before it").isLessThan(5_000);
    }

    /** The backlog is held back and let go in turn, so that both see the same machine. */
    private Medians medians(int backlog, int millis) {
        Carillon node = house.node(this::handlers);
        node.queues().pause("flood");
        for (int left = backlog; left > 0; left -= 50_000)
            node.enqueueAll(FLOOD, Collections.nCopies(Math.min(left, 50_000), new Piece(millis)));
        tries(node); // the first ones are slow
        List<Waited> alone = new ArrayList<>();
        List<Waited> crowded = new ArrayList<>();
        for (int round = 0; round < 2; round++) {
            node.queues().pause("flood");
            eventually().until(() -> live.get() == 0);
            alone.addAll(tries(node));
            long before = flooded.get();
            node.queues().resume("flood");
            eventually().until(() -> flooded.get() > before + 2 * SLOTS);
            crowded.addAll(tries(node));
        }
        assertThat(house.number("SELECT count(*) FROM (SELECT 1 FROM carillon.run WHERE queue = 'flood' LIMIT 1) s"))
                .as("the backlog lasted")
                .isPositive();
        Medians medians = new Medians(
                median(alone.stream().map(Waited::millis).toList()),
                median(crowded.stream().map(Waited::millis).toList()),
                median(crowded.stream().map(Waited::overtaken).toList()));
        System.out.printf(
                "neighbour: backlog %d of %d ms: alone %.1f ms, beside it %.1f ms, ratio %.2f, overtaken by %d%n",
                backlog, millis, medians.alone(), medians.crowded(), medians.ratio(), medians.overtaken());
        return medians;
    }

    private CarillonBuilder handlers(CarillonBuilder builder) {
        return builder.concurrency(SLOTS)
                .handle(FLOOD, (piece, run) -> flood(piece), options -> options.queue("flood"))
                .handle(CALL, (call, run) -> started(call), options -> options.queue("calls"));
    }

    private void flood(Piece piece) throws InterruptedException {
        flooded.incrementAndGet();
        if (piece.millis() == 0) return;
        live.incrementAndGet();
        try {
            // From half to one and a half times as long, or all slots would come free at the same moment.
            long millis = piece.millis() / 2 + ThreadLocalRandom.current().nextLong(piece.millis());
            if (never.await(millis, TimeUnit.MILLISECONDS)) throw new AssertionError();
        } finally {
            live.decrementAndGet();
        }
    }

    private void started(Call call) {
        startedAt.put(call.number(), System.nanoTime());
        floodedAt.put(call.number(), flooded.get());
        calls.get(call.number()).countDown();
    }

    private static <T extends Comparable<T>> T median(List<T> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    /** One call after the other. */
    private List<Waited> tries(Carillon node) {
        List<Waited> all = new ArrayList<>();
        for (int i = 0; i < TRIES; i++) {
            int number = numbers++;
            CountDownLatch started = new CountDownLatch(1);
            calls.put(number, started);
            long from = System.nanoTime();
            long before = flooded.get();
            node.enqueue(CALL, new Call(number));
            eventually().pollInterval(Duration.ofMillis(1)).until(() -> started.getCount() == 0);
            all.add(new Waited((startedAt.get(number) - from) / 1e6, floodedAt.get(number) - before));
        }
        return all;
    }
}
