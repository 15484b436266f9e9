package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempts;
import io.carillon.value.DatabaseClock;
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
        Set<Held> done = ConcurrentHashMap.newKeySet();
        CountDownLatch all = new CountDownLatch(2_000);
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (Workers workers = new Workers(queue, 7, held -> {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            done.add(held);
            now.decrementAndGet();
            all.countDown();
        })) {
            for (int i = 0; i < 200; i++) {
                queue.add(held(10), false);
                workers.look();
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
        try (Workers workers = new Workers(queue, 2, held -> {
            if (calls.incrementAndGet() % 2 == 0) throw new StackOverflowError("pretended");
            fine.countDown();
        })) {
            queue.add(held(40), false);
            workers.look();

            assertThat(fine.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(calls.get()).isBetween(39, 40);
        }
    }

    @Test
    void gives_the_slot_of_a_stuck_worker_to_somebody_else_until_it_comes_back() throws Exception {
        Semaphore stuck = new Semaphore(0);
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch second = new CountDownLatch(1);
        List<Held> two = held(2);
        try (Workers workers = new Workers(queue, 1, held -> {
            if (held != two.get(0)) {
                second.countDown();
                return;
            }
            held.begin(java.time.Duration.ofMinutes(1));
            entered.countDown();
            stuck.acquireUninterruptibly();
            held.finish();
        })) {
            queue.add(two, false);
            workers.look();
            assertThat(entered.await(30, TimeUnit.SECONDS)).isTrue();
            assertThat(workers.busy()).isEqualTo(1);

            assertThat(two.get(0).abandon()).isTrue();
            workers.stuck(two.get(0));

            assertThat(second.await(30, TimeUnit.SECONDS)).isTrue();
            stuck.release();
            while (workers.busy() != 0) Thread.onSpinWait();
        }
    }

    @Test
    void a_worker_that_cannot_be_started_loses_no_slot() {
        Workers workers = new Workers(queue, 1, held -> {});
        workers.close();
        queue.add(held(3), false);

        workers.look();
        workers.look();

        assertThat(workers.busy()).isZero();
        assertThat(queue.size()).isEqualTo(3);
    }

    @Test
    void a_slot_comes_back_whatever_is_thrown_and_wherever() throws Exception {
        CountDownLatch all = new CountDownLatch(10);
        ReadyQueue failing = new ReadyQueue(1, true);
        failing.onRoom(lane -> {
            throw new OutOfMemoryError("pretended");
        });
        try (Workers workers = new Workers(failing, 1, held -> {
            held.begin(java.time.Duration.ofMinutes(1));
            held.finish();
            all.countDown();
            throw new OutOfMemoryError("pretended");
        })) {
            failing.add(held(10), false);
            while (all.getCount() > 0) workers.look();
            while (workers.busy() != 0) Thread.onSpinWait();
        }

        assertThat(failing.poll()).isNull();
        failing.add(held(1), false);
        assertThat(failing.poll()).isNotNull();
    }

    private static List<Held> held(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new Held(UUID.randomUUID(), Attempts.any(), new DatabaseClock()))
                .toList();
    }
}
