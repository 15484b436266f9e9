package io.carillon.server;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/** Starts the background threads of the server. Jetty has a thread pool of its own. */
final class Threads {
    private Threads() {}

    /** A task that may block. */
    @FunctionalInterface
    interface InterruptibleTask {
        void run() throws InterruptedException;
    }

    /** Starts a daemon thread that runs the task after each pause until it is interrupted. The task must not throw. */
    static Thread startPeriodic(Duration pause, Runnable task) {
        return startLoop("carillon-server-cleanup", () -> {
            Thread.sleep(pause.toMillis());
            task.run();
        });
    }

    /** Starts a pool of daemon threads. Its tasks must throw nothing. */
    static ScheduledExecutorService startPool(String name, int threads) {
        return new ScheduledThreadPoolExecutor(threads, task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Starts a daemon thread that repeats the task until it is interrupted. The task must throw nothing but {@link
     * InterruptedException}, and must block when it has nothing to do.
     */
    static Thread startLoop(String name, InterruptibleTask task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (true) task.run();
                    } catch (InterruptedException closing) {
                        // An interrupt ends the thread.
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
