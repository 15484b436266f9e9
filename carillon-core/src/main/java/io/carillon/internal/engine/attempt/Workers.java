package io.carillon.internal.engine.attempt;

import io.carillon.internal.engine.loop.Threads;
import io.carillon.internal.value.VirtualThreads;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The slots. Drains the ready queue on at most {@code concurrency} threads, which are virtual where the JDK has virtual
 * threads. A worker takes the next attempt as soon as its last one has ended. Before it starts an attempt, it starts
 * another worker if more attempts are queued.
 */
public final class Workers implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Workers.class);

    private final ReadyQueue queue;
    private final Consumer<ActiveAttempt> work;
    private final int concurrency;
    private final AtomicInteger active = new AtomicInteger();
    private final AtomicInteger stuckCount = new AtomicInteger();
    private final ExecutorService executor;

    public Workers(ReadyQueue queue, int concurrency, Consumer<ActiveAttempt> work) {
        this.queue = queue;
        this.work = work;
        this.concurrency = concurrency;
        this.executor = VirtualThreads.newExecutor().orElseGet(Threads::pool);
    }

    /** Starts a worker if attempts are queued and a slot is free. */
    public void startWorkerIfNeeded() {
        while (true) {
            int now = active.get();
            if (now - stuckCount.get() >= concurrency || queue.size() == 0) return;
            if (active.compareAndSet(now, now + 1)) {
                startWorker();
                return;
            }
        }
    }

    /**
     * Starts a worker. If no thread can be created, the slot stays free and the next round of the watchdog tries again.
     */
    private void startWorker() {
        boolean begun = false;
        try {
            executor.execute(this::drain);
            begun = true;
        } catch (RejectedExecutionException | OutOfMemoryError failure) {
            log.error("could not start a worker thread; will retry queued={}", queue.size(), failure);
        } finally {
            if (!begun) active.decrementAndGet();
        }
    }

    private void drain() {
        try {
            for (ActiveAttempt next = queue.poll(); next != null; next = queue.poll()) {
                startWorkerIfNeeded();
                execute(next);
            }
        } finally {
            active.decrementAndGet();
        }
        // An attempt may have been queued after the last poll of this worker and before its slot was free.
        startWorkerIfNeeded();
    }

    private void execute(ActiveAttempt next) {
        try {
            work.accept(next);
        } catch (Throwable failure) {
            // The runner turns every exception into an outcome. If the runner itself fails, the slot must not be lost.
            log.error("attempt ended without an outcome; will be handed back run={}", next.id(), failure);
        } finally {
            if (next.isAbandoned()) stuckCount.decrementAndGet();
            else queue.releaseSlot(next);
        }
    }

    /** Frees the slot of a worker whose handler ignores its timeout, until the handler returns. */
    void releaseStuckSlot(ActiveAttempt activeAttempt) {
        queue.releaseSlot(activeAttempt);
        stuckCount.incrementAndGet();
        startWorkerIfNeeded();
    }

    /** Returns how many slots are in use. */
    public int busySlots() {
        return active.get() - stuckCount.get();
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
