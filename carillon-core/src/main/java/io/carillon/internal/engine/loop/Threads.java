package io.carillon.internal.engine.loop;

import io.carillon.internal.engine.attempt.Workers;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Creates all threads of the engine. Each thread has a name that says which loop it belongs to. */
public final class Threads {
    private static final AtomicInteger RUNS = new AtomicInteger();
    private static final AtomicInteger STEPS = new AtomicInteger();

    private Threads() {}

    /** Returns the thread for a loop. */
    static Thread loop(String name, boolean daemon, Runnable work) {
        return named("carillon-" + name, daemon, work);
    }

    /** Returns an unbounded pool that executes attempts. {@link Workers} limits the number of slots. */
    public static ExecutorService pool() {
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), Threads::run);
    }

    /** Returns a pool that executes steps of workflows beside the threads of the workflows. */
    public static Executor stepPool(int max) {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(max, max, 5, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Threads::step);
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    private static Thread step(Runnable work) {
        return named("carillon-step-" + STEPS.incrementAndGet(), true, work);
    }

    private static Thread run(Runnable work) {
        return named("carillon-run-" + RUNS.incrementAndGet(), true, work);
    }

    private static Thread named(String name, boolean daemon, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(daemon);
        return thread;
    }
}
