package io.carillon.internal.engine.loop;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that repeats a {@link Task} and survives every failure: exceptions, errors, and restarts of the database.
 * The loop counts failures, logs the first failure of a streak as a warning, and pauses longer after each failure.
 */
public final class Loop implements AutoCloseable {
    /** What a loop repeats. The task that a loop was created for keeps the loop, to sleep on it and to be woken. */
    @FunctionalInterface
    public interface Task {
        /** Runs one round. A round waits only by {@link Loop#sleep}, so that the loop can be woken and stopped. */
        void runRound() throws Exception;

        /** Cleans up after a round that failed, to discard state that the round left behind. */
        default void onFailure(Throwable failure) {}

        /** Runs on the thread of the loop before it ends. */
        default void onEnd() {}
    }

    private static final long FIRST_PAUSE = 50_000_000L;
    private static final long MAX_PAUSE = 2_000_000_000L;

    private final Logger log;
    private final String name;
    private final boolean daemon;
    private final Task task;
    private final WakeableSleep wakeableSleep = new WakeableSleep();
    private final AtomicLong rounds = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private volatile boolean open = true;
    private volatile boolean failing;
    private volatile @Nullable Thread thread;

    /** The name is part of the thread's name. Log lines appear under the class of the task. */
    public Loop(String name, boolean daemon, Task task) {
        this.name = name;
        this.daemon = daemon;
        this.task = task;
        this.log = LoggerFactory.getLogger(task.getClass());
    }

    public void start() {
        Thread started = Threads.loop(name, daemon, this::runUntilClosed);
        thread = started;
        started.start();
    }

    private void run() {
        long pause = FIRST_PAUSE;
        while (open) {
            try {
                task.runRound();
                rounds.incrementAndGet();
                if (failing) log.info("loop recovered loop={}", name);
                failing = false;
                pause = FIRST_PAUSE;
            } catch (InterruptedException woken) {
                // Only close() interrupts this thread; the loop condition sees it.
            } catch (Throwable failure) {
                if (!open) return;
                failures.incrementAndGet();
                if (!failing) log.warn("loop failed; will retry loop={}", name, failure);
                failing = true;
                callOnFailure(failure);
                LockSupport.parkNanos(pause);
                pause = Math.min(pause * 2, MAX_PAUSE);
            }
        }
    }

    private void runUntilClosed() {
        run();
        try {
            task.onEnd();
        } catch (Throwable failure) {
            log.warn("cleanup at the end of a loop failed loop={}", name, failure);
        }
    }

    /** Calls {@link Task#onFailure}. An exception there must not end the loop, because nothing would start it again. */
    private void callOnFailure(Throwable failure) {
        try {
            task.onFailure(failure);
        } catch (Throwable alsoBroken) {
            log.warn("cleanup after a failed round failed loop={}", name, alsoBroken);
        }
    }

    public void wake() {
        wakeableSleep.wake();
    }

    public boolean sleep(long nanos) throws InterruptedException {
        return open && wakeableSleep.sleep(nanos);
    }

    public boolean isOpen() {
        return open;
    }

    public String name() {
        return name;
    }

    /** Returns how many rounds succeeded. */
    public long rounds() {
        return rounds.get();
    }

    /** Returns how many rounds failed. */
    public long failures() {
        return failures.get();
    }

    /** Returns whether the last round failed. */
    public boolean isFailing() {
        return failing;
    }

    /** Returns whether the thread of this loop is alive. */
    public boolean isAlive() {
        Thread running = thread;
        return running != null && running.isAlive();
    }

    @Override
    public void close() {
        stopAll(List.of(this), BoundedWait.FULL_TIME);
    }

    /**
     * Stops several loops. Each may finish its current round. The loops are interrupted after 2 s, or immediately when
     * {@code boundedWait} gives up.
     */
    public static void stopAll(List<Loop> loops, BoundedWait boundedWait) {
        BooleanSupplier ended = () -> loops.stream().noneMatch(Loop::mustBeAwaited);
        loops.forEach(Loop::stop);
        boundedWait.until(ended, Duration.ofSeconds(2));
        loops.stream().filter(Loop::mustBeAwaited).forEach(Loop::interrupt);
        BoundedWait.FULL_TIME.until(ended, Duration.ofSeconds(1));
        boundedWait.until(ended, Duration.ofSeconds(9));
    }

    private void stop() {
        open = false;
        wakeableSleep.wake();
    }

    private void interrupt() {
        Thread running = thread;
        if (running != null) running.interrupt();
    }

    /** Returns whether to wait for the end of this loop. A loop that stops itself does not wait for its own thread. */
    private boolean mustBeAwaited() {
        return isAlive() && thread != Thread.currentThread();
    }

    /**
     * A timer for queries that also read index entries of ended runs. While an old transaction keeps vacuum from
     * removing these entries, such queries become slower. The timer limits a query to 1/1000 of the time, but makes it
     * due at least once a minute.
     */
    public static final class CostLimitedTimer {
        private static final int COST_RATIO = 1_000;
        private static final long MAX_INTERVAL = Duration.ofMinutes(1).toNanos();

        private final long minInterval;
        private volatile long last = System.nanoTime();
        private volatile long next = last;
        private volatile long lastCost;

        public CostLimitedTimer(Duration minInterval) {
            this.minInterval = minInterval.toNanos();
        }

        public boolean isDue() {
            return System.nanoTime() - next >= 0;
        }

        /**
         * Records the duration of the query. The smaller of the last two durations counts, because a single slow query
         * may be caused by a busy machine.
         */
        public void recordCost(long nanos) {
            last = System.nanoTime();
            next = last + Math.min(MAX_INTERVAL, Math.max(minInterval, Math.min(nanos, lastCost) * COST_RATIO));
            lastCost = nanos;
        }

        /** Makes the query due as soon as the minimum interval allows. */
        public void runSoon() {
            if (next - (last + minInterval) > 0) next = last + minInterval;
        }
    }
}
