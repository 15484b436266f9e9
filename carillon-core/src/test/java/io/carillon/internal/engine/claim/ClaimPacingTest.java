package io.carillon.internal.engine.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.NodeConfig;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.attempt.ActiveAttempts;
import io.carillon.internal.engine.attempt.Completer;
import io.carillon.internal.engine.attempt.ReadyQueue;
import io.carillon.internal.engine.attempt.Workers;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.run.TestAttempts;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ClaimPacingTest {
    private static final int CONCURRENCY = 8;
    private final ReadyQueue queue = new ReadyQueue(100, false);
    private final CountDownLatch release = new CountDownLatch(1);
    private final CountDownLatch busy = new CountDownLatch(CONCURRENCY);
    private final Completer completer = new Completer(
            null,
            new ActiveAttempts(LoopReports.NONE),
            Listeners.none().onCallingThread().attempts(),
            LoopReports.NONE,
            () -> false);
    private final Workers workers = new Workers(queue, CONCURRENCY, activeAttempt -> {
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
        assertThat(pacing(500).claimSize()).isEqualTo(CONCURRENCY);
        assertThat(pacing(3).claimSize()).isEqualTo(3);
    }

    @Test
    void asks_for_nothing_while_all_slots_are_taken_by_long_runs() throws Exception {
        occupyAll();

        assertThat(pacing(500).claimSize()).isZero();
    }

    @Test
    void counts_what_is_claimed_and_not_started_as_taken() {
        queue.add(held(5), false);

        assertThat(pacing(500).claimSize()).isEqualTo(CONCURRENCY - 5);
    }

    @Test
    void prefetches_about_as_many_as_were_started_lately() throws Exception {
        ClaimPacing pacing = pacing(500);
        occupyAll();
        for (int i = 0; i < 1_000; i++) pacing.recordStart();

        int want = 0;
        for (long end = System.nanoTime() + 10_000_000_000L; want == 0 && System.nanoTime() < end; )
            want = pacing.claimSize();

        assertThat(want).isBetween(1, 500);
    }

    @Test
    void allows_a_small_claim_of_new_lanes_only_where_slots_become_free() throws Exception {
        ClaimPacing pacing = pacing(50);
        occupyAll();
        assertThat(pacing.newLaneClaimSize())
                .as("all slots are taken by long runs")
                .isZero();
        for (int i = 0; i < 100_000; i++) pacing.recordStart();
        int want = 0;
        for (long end = System.nanoTime() + 10_000_000_000L; want == 0 && System.nanoTime() < end; )
            want = pacing.claimSize();
        assertThat(want).isEqualTo(50);

        queue.add(held(100), false);
        assertThat(pacing.newLaneClaimSize()).isEqualTo(5);

        queue.add(held(100 + CONCURRENCY), false);
        assertThat(pacing.newLaneClaimSize()).as("too many attempts are queued").isZero();
    }

    @Test
    void asks_for_nothing_while_too_many_endings_wait_to_be_written() {
        held(5_001).forEach(completer::handBack);

        assertThat(completer.backlog()).isEqualTo(5_001);
        assertThat(pacing(500).claimSize()).isZero();
    }

    private void occupyAll() throws InterruptedException {
        queue.add(held(CONCURRENCY), false);
        workers.startWorkerIfNeeded();
        assertThat(busy.await(30, TimeUnit.SECONDS)).isTrue();
    }

    private ClaimPacing pacing(int claim) {
        NodeConfig config = NodeConfig.defaults().concurrency(CONCURRENCY).maxClaimSize(claim);
        return new ClaimPacing(workers, queue, completer, config);
    }

    private static List<ActiveAttempt> held(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new ActiveAttempt(UUID.randomUUID(), TestAttempts.any(), new DatabaseClock()))
                .toList();
    }
}
