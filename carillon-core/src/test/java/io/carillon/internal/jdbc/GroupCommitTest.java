package io.carillon.internal.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GroupCommitTest {
    private static final Duration ONE_MINUTE = Duration.ofMinutes(1);

    private final List<List<Integer>> groups = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch blocked = new CountDownLatch(1);

    private final GroupCommit<Integer, Integer> commit = new GroupCommit<>(1, rows -> {
        groups.add(rows);
        if (rows.contains(0)) waitUntilReleased();
        return rows.stream().map(row -> -row).toList();
    });

    private void waitUntilReleased() {
        started.countDown();
        try {
            assertThat(blocked.await(1, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException stopped) {
            throw new AssertionError(stopped);
        }
    }

    @Test
    void a_row_that_waits_too_long_is_taken_back_and_never_written() throws InterruptedException {
        CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> commit.submit(0));
        started.await();

        Optional<Integer> withdrawn = commit.submit(1, Duration.ofMillis(20));

        assertThat(withdrawn).isEmpty();
        blocked.countDown();
        assertThat(first.join()).isZero();
        assertThat(commit.submit(2, ONE_MINUTE)).contains(-2);
        assertThat(groups).containsExactly(List.of(0), List.of(2));
    }

    @Test
    void rows_that_wait_together_are_one_group() throws InterruptedException {
        CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> commit.submit(0));
        started.await();
        Thread[] threads = new Thread[20];
        for (int i = 0; i < threads.length; i++) {
            int row = i + 1;
            threads[i] =
                    new Thread(() -> assertThat(commit.submit(row, ONE_MINUTE)).contains(-row));
            threads[i].start();
        }
        for (Thread thread : threads) while (thread.getState() != Thread.State.TIMED_WAITING) Thread.onSpinWait();

        blocked.countDown();

        for (Thread thread : threads) thread.join();
        assertThat(first.join()).isZero();
        assertThat(groups).hasSize(2);
        assertThat(groups.get(1)).hasSize(20);
    }
}
