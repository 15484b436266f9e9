package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempts;
import io.carillon.run.RunListener;
import io.carillon.value.DatabaseClock;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AppetiteTest {
    private static final int CONCURRENCY = 8;
    private final ReadyQueue queue = new ReadyQueue(100, false);
    private final CountDownLatch release = new CountDownLatch(1);
    private final CountDownLatch busy = new CountDownLatch(CONCURRENCY);
    private final Completer completer = new Completer(null, new Holding(), RunListener.NONE);
    private final Workers workers = new Workers(queue, CONCURRENCY, held -> {
        busy.countDown();
        try {
            release.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    });

    @AfterEach
    void stop() {
        release.countDown();
        workers.close();
    }

    @Test
    void asks_for_all_free_slots_at_first_but_never_more_than_a_claim_may_take() {
        assertThat(appetite(500).want()).isEqualTo(CONCURRENCY);
        assertThat(appetite(3).want()).isEqualTo(3);
    }

    @Test
    void asks_for_nothing_while_all_slots_are_taken_by_long_runs() throws Exception {
        occupyAll();

        assertThat(appetite(500).want()).isZero();
    }

    @Test
    void counts_what_is_claimed_and_not_started_as_taken() {
        queue.add(held(5), false);

        assertThat(appetite(500).want()).isEqualTo(CONCURRENCY - 5);
    }

    @Test
    void asks_ahead_for_about_as_much_as_was_consumed_lately() throws Exception {
        Appetite appetite = appetite(500);
        occupyAll();
        for (int i = 0; i < 1_000; i++) appetite.consumed();

        int want = 0;
        for (long end = System.nanoTime() + 10_000_000_000L; want == 0 && System.nanoTime() < end; )
            want = appetite.want();

        assertThat(want).isBetween(1, 500);
    }

    @Test
    void has_room_for_a_few_newcomers_where_slots_come_free_and_only_there() throws Exception {
        Appetite appetite = appetite(50);
        occupyAll();
        assertThat(appetite.forNewcomers())
                .as("all slots are taken by long runs")
                .isZero();
        for (int i = 0; i < 100_000; i++) appetite.consumed();
        int want = 0;
        for (long end = System.nanoTime() + 10_000_000_000L; want == 0 && System.nanoTime() < end; )
            want = appetite.want();
        assertThat(want).isEqualTo(50);

        queue.add(held(100), false);
        assertThat(appetite.forNewcomers()).isEqualTo(5);

        queue.add(held(100 + CONCURRENCY), false);
        assertThat(appetite.forNewcomers()).as("too much waits already").isZero();
    }

    @Test
    void asks_for_nothing_while_too_many_endings_wait_to_be_written() {
        held(5_001).forEach(completer::handBack);

        assertThat(completer.backlog()).isEqualTo(5_001);
        assertThat(appetite(500).want()).isZero();
    }

    private void occupyAll() throws InterruptedException {
        queue.add(held(CONCURRENCY), false);
        workers.look();
        assertThat(busy.await(30, TimeUnit.SECONDS)).isTrue();
    }

    private Appetite appetite(int claim) {
        return new Appetite(workers, queue, completer, new EngineConfig.Slots(CONCURRENCY, 0, claim));
    }

    private static List<Held> held(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new Held(UUID.randomUUID(), Attempts.any(), new DatabaseClock()))
                .toList();
    }
}
