package io.carillon.engine;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The slots: drains the ready queue on at most {@code concurrency} threads at a time, virtual ones where the JDK has them. A worker takes the next attempt
 * as soon as its last one is over; before it starts one it makes sure that another worker looks at what is left.
 */
final class Workers implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Workers.class);
    private static final @Nullable MethodHandle VIRTUAL = findVirtual();

    private final ReadyQueue queue;
    private final Consumer<Held> work;
    private final int concurrency;
    private final AtomicInteger active = new AtomicInteger();
    private final AtomicInteger stuck = new AtomicInteger();
    private final ExecutorService executor;

    Workers(ReadyQueue queue, int concurrency, Consumer<Held> work) {
        this.queue = queue;
        this.work = work;
        this.concurrency = concurrency;
        this.executor = executor();
    }

    /** Whether this JDK has virtual threads. */
    static boolean virtualThreads() {
        return VIRTUAL != null;
    }

    /** There is something in the queue: have a worker look, if a slot is free. */
    void look() {
        while (true) {
            int now = active.get();
            if (now - stuck.get() >= concurrency || queue.size() == 0) return;
            if (active.compareAndSet(now, now + 1)) {
                begin();
                return;
            }
        }
    }

    /** Without memory for a thread the slot stays free, and the watchdog's next round looks again. */
    private void begin() {
        boolean begun = false;
        try {
            executor.execute(this::drain);
            begun = true;
        } catch (RejectedExecutionException | OutOfMemoryError failure) {
            log.error("could not start a worker thread, will retry queued={}", queue.size(), failure);
        } finally {
            if (!begun) active.decrementAndGet();
        }
    }

    private void drain() {
        try {
            for (Held next = queue.poll(); next != null; next = queue.poll()) {
                if (queue.size() > 0) look();
                execute(next);
            }
        } finally {
            active.decrementAndGet();
        }
        // Something may have come between our last look and our leaving.
        look();
    }

    private void execute(Held next) {
        try {
            work.accept(next);
        } catch (Throwable failure) {
            // The runner turns everything into an outcome; should it ever fail itself, the slot must not be lost with
            // it.
            log.error("attempt ended without an outcome, it will be handed back run={}", next.id(), failure);
        } finally {
            if (next.abandoned()) stuck.decrementAndGet();
            else queue.ended(next);
        }
    }

    /** A worker whose handler does not obey its deadline: its slot is given to somebody else until it comes back. */
    void stuck(Held held) {
        queue.ended(held);
        stuck.incrementAndGet();
        look();
    }

    /** How many slots are taken. */
    int busy() {
        return active.get() - stuck.get();
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }

    private static ExecutorService executor() {
        if (VIRTUAL != null) {
            try {
                return (ExecutorService) VIRTUAL.invoke();
            } catch (Throwable unavailable) {
                throw new IllegalStateException("virtual threads were found but cannot be used", unavailable);
            }
        }
        return Threads.pool();
    }

    private static @Nullable MethodHandle findVirtual() {
        try {
            return MethodHandles.publicLookup()
                    .findStatic(
                            Executors.class,
                            "newVirtualThreadPerTaskExecutor",
                            MethodType.methodType(ExecutorService.class));
        } catch (ReflectiveOperationException olderJdk) {
            return null;
        }
    }
}
