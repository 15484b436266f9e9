package io.carillon.it.frontdoor;

import static io.carillon.it.frontdoor.House.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.run.Explanation;
import io.carillon.run.HandlerType;
import io.carillon.run.Limits;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Limits of queues on real nodes. */
@CarillonTest
class LimitsTest {
    record Piece(int millis) {}

    private record Span(long from, long to) {}

    private static final HandlerType<Piece> PIECE = HandlerType.of("piece", Piece.class);

    private final House house;
    private final AtomicInteger live = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final List<Span> spans = new CopyOnWriteArrayList<>();
    private final CountDownLatch never = new CountDownLatch(1);

    LimitsTest(TestDatabase database) {
        this.house = new House(database);
    }

    @AfterEach
    void close() {
        house.close();
    }

    private void piece(Piece piece, RunContext run) throws Exception {
        long from = System.nanoTime();
        most.accumulateAndGet(live.incrementAndGet(), Math::max);
        try {
            if (never.await(piece.millis(), TimeUnit.MILLISECONDS)) throw new AssertionError();
        } finally {
            live.decrementAndGet();
            spans.add(new Span(from, System.nanoTime()));
        }
    }

    private CarillonBuilder pieces(CarillonBuilder builder) {
        return builder.handle(PIECE, this::piece);
    }

    private static List<Piece> pieces(int count, int millis) {
        return Collections.nCopies(count, new Piece(millis));
    }

    private double seconds() {
        long first = spans.stream().mapToLong(Span::from).min().orElseThrow();
        long last = spans.stream().mapToLong(Span::to).max().orElseThrow();
        return (last - first) / 1e9;
    }

    @Test
    void a_limited_queue_makes_good_use_of_its_limit_on_all_nodes_together() {
        Carillon carillon = house.node(this::pieces);
        house.node(this::pieces);
        carillon.queues().limit("piece", Limits.running(5));

        carillon.enqueueAll(PIECE, pieces(20, 1_000));

        eventually().until(() -> spans.size() == 20);
        assertThat(most.get()).isEqualTo(5);
        double worked =
                spans.stream().mapToLong(span -> span.to() - span.from()).sum() / 1e9;
        System.out.printf("limits: %.0f %% of the limit was used%n", 100 * worked / (5 * seconds()));
        assertThat(worked / (5 * seconds()))
                .as("part of the limit that was used")
                .isGreaterThan(0.8);
    }

    @Test
    void starts_keep_to_the_rate_in_every_window_and_use_it() {
        Carillon carillon = house.node(this::pieces);
        house.node(this::pieces);
        carillon.queues().limit("piece", Limits.rate(40, Duration.ofSeconds(1)));

        carillon.enqueueAll(PIECE, pieces(120, 0));

        eventually().until(() -> spans.size() == 120);
        List<Long> starts = spans.stream().map(Span::from).sorted().toList();
        int inOneSecond = IntStream.range(0, starts.size())
                .map(i -> (int) starts.stream()
                        .filter(at -> at >= starts.get(i) && at < starts.get(i) + 1_000_000_000L)
                        .count())
                .max()
                .orElseThrow();
        // A second's worth, a tenth of that and one; and what a start may be late after its claim.
        assertThat(inOneSecond).isBetween(32, 40 + 5 + 4);
        System.out.printf("limits: %.0f %% of the rate was used%n", 100 * 120 / (40 * seconds()));
        assertThat(120 / seconds()).isGreaterThan(32);
    }

    @Test
    void a_full_queue_keeps_no_other_waiting_and_says_what_it_waits_for() {
        Carillon carillon =
                house.node(builder -> pieces(builder).handle(HandlerType.of("other", Piece.class), this::piece));
        carillon.queues().limit("piece", Limits.running(1));
        carillon.enqueueAll(PIECE, pieces(300, 4_000));
        eventually().until(() -> live.get() == 1);

        RunId waiting = carillon.enqueue(PIECE, new Piece(0)).run();
        carillon.enqueue(HandlerType.of("other", Piece.class), new Piece(0));

        eventually().until(() -> spans.size() == 1);
        assertThat(live.get()).isEqualTo(1);
        assertThat(carillon.runs().explain(waiting).map(Explanation::summary))
                .contains("It waits: queue 'piece' lets 1 run at a time, and so many do.");
    }

    @Test
    void a_limit_that_is_lifted_lets_all_start() {
        Carillon carillon = house.node(this::pieces);
        carillon.queues().limit("piece", Limits.running(1));
        carillon.enqueueAll(PIECE, pieces(40, 300));
        eventually().until(() -> live.get() == 1);

        carillon.queues().limit("piece", Limits.none());

        eventually().until(() -> live.get() > 10);
    }

    @Test
    void a_tick_keeps_to_the_limit_too() {
        Carillon client = house.client(this::pieces);
        client.queues().limit("piece", Limits.running(1));
        client.enqueueAll(PIECE, pieces(5, 0));

        assertThat(client.tick(Duration.ofSeconds(20)).processed()).isEqualTo(5);
    }
}
