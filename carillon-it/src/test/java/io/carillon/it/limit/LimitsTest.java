package io.carillon.it.limit;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.QueueLimits;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Explanation;
import io.carillon.run.HandlerType;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Queue limits on real nodes. */
@CarillonTest
class LimitsTest {
    record Piece(int millis) {}

    private record Span(long from, long to) {}

    private static final HandlerType<Piece> PIECE = HandlerType.of("piece", Piece.class);

    private final ApiFixture fixture;
    private final AtomicInteger live = new AtomicInteger();
    private final AtomicInteger maxLive = new AtomicInteger();
    private final List<Span> spans = new CopyOnWriteArrayList<>();
    private final CountDownLatch never = new CountDownLatch(1);

    LimitsTest(TestDatabase database) {
        this.fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private void runPiece(Piece piece, RunContext run) throws Exception {
        long from = System.nanoTime();
        maxLive.accumulateAndGet(live.incrementAndGet(), Math::max);
        try {
            if (never.await(piece.millis(), TimeUnit.MILLISECONDS)) throw new AssertionError();
        } finally {
            live.decrementAndGet();
            spans.add(new Span(from, System.nanoTime()));
        }
    }

    private CarillonBuilder pieces(CarillonBuilder builder) {
        return builder.handle(PIECE, this::runPiece);
    }

    private static List<Piece> pieces(int count, int millis) {
        return Collections.nCopies(count, new Piece(millis));
    }

    private double seconds() {
        long first = spans.stream().mapToLong(Span::from).min().orElseThrow();
        long last = spans.stream().mapToLong(Span::to).max().orElseThrow();
        return (last - first) / 1e9;
    }

    @Tag("slow")
    @Test
    void a_limited_queue_uses_80_percent_of_its_limit_across_all_nodes() {
        Carillon carillon = fixture.node(this::pieces);
        fixture.node(this::pieces);
        carillon.queues().limit("piece", QueueLimits.maxRunning(5));

        carillon.enqueueAll(PIECE, pieces(20, 1_000));

        eventually().until(() -> spans.size() == 20);
        assertThat(maxLive.get()).isEqualTo(5);
        double worked =
                spans.stream().mapToLong(span -> span.to() - span.from()).sum() / 1e9;
        System.out.printf("limits: %.0f %% of the limit was used%n", 100 * worked / (5 * seconds()));
        assertThat(worked / (5 * seconds())).as("used share of the limit").isGreaterThan(0.8);
    }

    @Tag("slow")
    @Test
    void starts_respect_the_rate_in_every_window_and_use_80_percent_of_it() {
        Carillon carillon = fixture.node(this::pieces);
        fixture.node(this::pieces);
        carillon.queues().limit("piece", QueueLimits.rate(40, Duration.ofSeconds(1)));

        carillon.enqueueAll(PIECE, pieces(120, 0));

        eventually().until(() -> spans.size() == 120);
        List<Long> starts = spans.stream().map(Span::from).sorted().toList();
        int inOneSecond = IntStream.range(0, starts.size())
                .map(i -> (int) starts.stream()
                        .filter(at -> at >= starts.get(i) && at < starts.get(i) + 1_000_000_000L)
                        .count())
                .max()
                .orElseThrow();
        // 40 in a second, a burst of a tenth of that plus one, and 4 for starts delayed after their claim.
        assertThat(inOneSecond).isBetween(32, 40 + 5 + 4);
        System.out.printf("limits: %.0f %% of the rate was used%n", 100 * 120 / (40 * seconds()));
        assertThat(120 / seconds()).isGreaterThan(32);
    }

    @Test
    void a_queue_at_its_limit_delays_no_other_queue_and_its_waiting_runs_name_the_limit() {
        Carillon carillon =
                fixture.node(builder -> pieces(builder).handle(HandlerType.of("other", Piece.class), this::runPiece));
        carillon.queues().limit("piece", QueueLimits.maxRunning(1));
        carillon.enqueueAll(PIECE, pieces(300, 4_000));
        eventually().until(() -> live.get() == 1);

        RunId waiting = carillon.enqueue(PIECE, new Piece(0)).run();
        carillon.enqueue(HandlerType.of("other", Piece.class), new Piece(0));

        eventually().until(() -> spans.size() == 1);
        assertThat(live.get()).isEqualTo(1);
        assertThat(carillon.runs().explain(waiting).map(Explanation::summary))
                .contains("It waits: queue 'piece' has reached its limit of 1 running at a time.");
    }

    @Test
    void removing_a_limit_lets_waiting_runs_start() {
        Carillon carillon = fixture.node(this::pieces);
        carillon.queues().limit("piece", QueueLimits.maxRunning(1));
        carillon.enqueueAll(PIECE, pieces(40, 300));
        eventually().until(() -> live.get() == 1);

        carillon.queues().limit("piece", QueueLimits.none());

        eventually().until(() -> live.get() > 10);
    }

    @Test
    void run_due_respects_the_limit_too() {
        Carillon client = fixture.client(this::pieces);
        client.queues().limit("piece", QueueLimits.maxRunning(1));
        client.enqueueAll(PIECE, pieces(5, 0));

        assertThat(client.runDue(Duration.ofSeconds(20)).processed()).isEqualTo(5);
    }
}
