package io.carillon.dashboard;

import java.util.concurrent.ScheduledThreadPoolExecutor;

/** The only class of this package that creates threads. */
final class Threads {
    private Threads() {}

    /** Starts a pool of daemon threads for streams. */
    static ScheduledThreadPoolExecutor startPool(int threads) {
        return new ScheduledThreadPoolExecutor(threads, task -> {
            Thread thread = new Thread(task, "carillon-dashboard-stream");
            thread.setDaemon(true);
            return thread;
        });
    }
}
