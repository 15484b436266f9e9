package io.carillon.engine;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The only place of this room that makes threads: all of them are named, so that a thread dump reads like the architecture. */
final class Threads {
    private static final AtomicInteger RUNS = new AtomicInteger();

    private Threads() {}

    /** The thread of a loop. */
    static Thread loop(String name, boolean daemon, Runnable work) {
        return named("carillon-" + name, daemon, work);
    }

    /** Threads that execute attempts; as many as are asked for, because the slots are counted elsewhere. */
    static ExecutorService pool() {
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), Threads::run);
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
