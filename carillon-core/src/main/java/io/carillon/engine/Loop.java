package io.carillon.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that does one thing again and again and survives everything: exceptions, errors, restarts of the database. Failures are counted, said once per
 * streak at warn, and answered with a growing pause.
 */
abstract class Loop implements AutoCloseable {
    private static final long FIRST_PAUSE = 50_000_000L;
    private static final long LONGEST_PAUSE = 2_000_000_000L;

    private final Logger log = LoggerFactory.getLogger(getClass());
    private final String name;
    private final boolean daemon;
    private final Waker waker = new Waker();
    private final AtomicLong turns = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private volatile boolean open = true;
    private volatile boolean failing;
    private volatile @Nullable Thread thread;

    Loop(String name, boolean daemon) {
        this.name = name;
        this.daemon = daemon;
    }

    /** One round. It sleeps by {@link #sleep}, so that it can be woken and stopped. */
    abstract void turn() throws Exception;

    final void start() {
        Thread started = Threads.loop(name, daemon, this::runToTheEnd);
        thread = started;
        started.start();
    }

    private void run() {
        long pause = FIRST_PAUSE;
        while (open) {
            try {
                turn();
                turns.incrementAndGet();
                if (failing) log.info("loop recovered loop={}", name);
                failing = false;
                pause = FIRST_PAUSE;
            } catch (InterruptedException woken) {
                // Only close() interrupts, and the condition above sees it.
            } catch (Throwable failure) {
                if (!open) return;
                failures.incrementAndGet();
                if (!failing) log.warn("loop failed, it goes on loop={}", name, failure);
                failing = true;
                forget(failure);
                LockSupport.parkNanos(pause);
                pause = Math.min(pause * 2, LONGEST_PAUSE);
            }
        }
    }

    private void runToTheEnd() {
        run();
        try {
            onEnd();
        } catch (Throwable failure) {
            log.warn("loop could not tidy up at its end loop={}", name, failure);
        }
    }

    /** Also what fails here must not end the loop: nobody would start it again. */
    private void forget(Throwable failure) {
        try {
            onFailure(failure);
        } catch (Throwable alsoBroken) {
            log.warn("loop could not tidy up after a failure loop={}", name, alsoBroken);
        }
    }

    /** A loop may have to forget what it was told by the turn that failed. */
    void onFailure(Throwable failure) {}

    final void wake() {
        waker.wake();
    }

    final boolean sleep(long nanos) throws InterruptedException {
        return open && waker.sleep(nanos);
    }

    final boolean open() {
        return open;
    }

    final String name() {
        return name;
    }

    /** How many rounds went well. */
    final long turns() {
        return turns.get();
    }

    /** How many rounds failed. */
    final long failures() {
        return failures.get();
    }

    /** Whether the last round failed. */
    final boolean failing() {
        return failing;
    }

    /** Whether its thread lives. */
    final boolean alive() {
        Thread running = thread;
        return running != null && running.isAlive();
    }

    @Override
    public void close() {
        end(List.of(this), Wait.PATIENTLY);
    }

    /** Ends loops together: what they are at may be finished, is interrupted when it takes long, and at once where waiting is hopeless. */
    static void end(List<Loop> loops, Wait wait) {
        BooleanSupplier ended = () -> loops.stream().noneMatch(Loop::awaited);
        loops.forEach(Loop::stop);
        wait.until(ended, Duration.ofSeconds(2));
        loops.stream().filter(Loop::awaited).forEach(Loop::interrupt);
        Wait.PATIENTLY.until(ended, Duration.ofSeconds(1));
        wait.until(ended, Duration.ofSeconds(9));
    }

    private void stop() {
        open = false;
        waker.wake();
    }

    private void interrupt() {
        Thread running = thread;
        if (running != null) running.interrupt();
    }

    /** A loop that ends itself cannot wait for that. */
    private boolean awaited() {
        return alive() && thread != Thread.currentThread();
    }

    /** Its thread is about to end. */
    void onEnd() {}

    /**
     * What wades through entries of what is over: where an old transaction keeps vacuum from them they become ever more. It gets one part in a thousand of the
     * time, and its turn at least once a minute.
     */
    static final class Rarely {
        private static final int PART = 1_000;
        private static final long RAREST = Duration.ofMinutes(1).toNanos();

        private final long least;
        private volatile long last = System.nanoTime();
        private volatile long next = last;
        private volatile long before;

        Rarely(Duration least) {
            this.least = least.toNanos();
        }

        boolean due() {
            return System.nanoTime() - next >= 0;
        }

        /** What was slow only once was so by chance, as on a machine that was busy with something else. */
        void took(long nanos) {
            last = System.nanoTime();
            next = last + Math.min(RAREST, Math.max(least, Math.min(nanos, before) * PART));
            before = nanos;
        }

        /** There is a reason: as soon as if it had taken no time. */
        void hurry() {
            if (next - (last + least) > 0) next = last + least;
        }
    }
}
