package io.carillon.internal.engine.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.value.DatabaseClock;
import io.carillon.run.TestAttempts;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WorkersTest {
    private final ReadyQueue queue = new ReadyQueue(100, false);

    @Test
    void drains_everything_on_no_more_threads_than_slots() throws Exception {
        Set<ActiveAttempt> done = ConcurrentHashMap.newKeySet();
        CountDownLatch all = new CountDownLatch(2_000);
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (Workers workers = new Workers(queue, 7, activeAttempt -> {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            done.add(activeAttempt);
            now.decrementAndGet();
            all.countDown();
        })) {
            for (int i = 0; i < 200; i++) {
                queue.add(held(10), false);
                workers.startWorkerIfNeeded();
            }

            assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
        }

        assertThat(done).hasSize(2_000);
        assertThat(most.get()).isBetween(1, 7);
    }

    @Test
    void goes_on_after_work_that_throws() throws Exception {
        CountDownLatch fine = new CountDownLatch(20);
        AtomicInteger calls = new AtomicInteger();
        try (Workers workers = new Workers(queue, 2, activeAttempt -> {
            if (calls.incrementAndGet() % 2 == 0) throw new StackOverflowError("simulated");
            fine.countDown();
        })) {
            queue.add(held(40), false);
            workers.startWorkerIfNeeded();

            assertThat(fine.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(calls.get()).isBetween(39, 40);
        }
    }

    @Test
    void gives_the_slot_of_a_stuck_worker_to_another_until_it_returns() throws Exception {
        Semaphore stuck = new Semaphore(0);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch second = new CountDownLatch(1);
        List<ActiveAttempt> two = held(2);
        try (Workers workers = new Workers(queue, 1, activeAttempt -> {
            if (activeAttempt != two.get(0)) {
                second.countDown();
                return;
            }
            activeAttempt.begin(java.time.Duration.ofMinutes(1));
            entered.countDown();
            stuck.acquireUninterruptibly();
            activeAttempt.detachThread();
        })) {
            queue.add(two, false);
            workers.startWorkerIfNeeded();
            assertThat(entered.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(workers.busySlots()).isEqualTo(1);

            assertThat(two.get(0).abandon()).isTrue();
            workers.releaseStuckSlot(two.get(0));

            assertThat(second.await(30, TimeUnit.SECONDS)).isTrue();
            stuck.release();
            while (workers.busySlots() != 0) Thread.onSpinWait();
        }
    }

    @Test
    void a_worker_that_cannot_be_started_loses_no_slot() {
        Workers workers = new Workers(queue, 1, activeAttempt -> {});
        workers.close();
        queue.add(held(3), false);

        workers.startWorkerIfNeeded();
        workers.startWorkerIfNeeded();

        assertThat(workers.busySlots()).isZero();
        assertThat(queue.size()).isEqualTo(3);
    }

    @Test
    void a_slot_is_released_whatever_is_thrown() throws Exception {
        CountDownLatch all = new CountDownLatch(10);
        ReadyQueue failing = new ReadyQueue(1, true);
        failing.onCapacity(lane -> {
            throw new OutOfMemoryError("simulated");
        });
        try (Workers workers = new Workers(failing, 1, activeAttempt -> {
            activeAttempt.begin(java.time.Duration.ofMinutes(1));
            activeAttempt.detachThread();
            all.countDown();
            throw new OutOfMemoryError("simulated");
        })) {
            failing.add(held(10), false);
            while (all.getCount() > 0) workers.startWorkerIfNeeded();
            while (workers.busySlots() != 0) Thread.onSpinWait();
        }

        assertThat(failing.poll()).isNull();
        failing.add(held(1), false);
        assertThat(failing.poll()).isNotNull();
    }

    private static List<ActiveAttempt> held(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new ActiveAttempt(UUID.randomUUID(), TestAttempts.any(), new DatabaseClock()))
                .toList();
    }
}
