package io.carillon.webhook.send;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes this room's threads: daemons with a name, so that none outlives its application. */
final class Threads {
    private static final Logger log = LoggerFactory.getLogger(Threads.class);
    /** So many name servers may hang at a time before deliveries fail at once instead of waiting behind them. */
    private static final int RESOLVERS = 32;

    private Threads() {}

    /** Ends requests at their deadline. */
    static ScheduledExecutorService alarm() {
        ScheduledThreadPoolExecutor alarm = new ScheduledThreadPoolExecutor(1, task -> daemon(task, "webhook-alarm"));
        alarm.setRemoveOnCancelPolicy(true);
        return alarm;
    }

    /** Asks for names: the JDK gives no way to end that in time. */
    static ExecutorService resolvers() {
        return new ThreadPoolExecutor(
                0, RESOLVERS, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> daemon(task, "webhook-names"));
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, "carillon-" + name);
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((t, failure) -> log.error("thread ended thread={}", t.getName(), failure));
        return thread;
    }
}
