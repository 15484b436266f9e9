package io.carillon.webhook.send;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads of this package: named daemons, so that none keeps the application running. */
final class Threads {
    private static final Logger log = LoggerFactory.getLogger(Threads.class);

    private Threads() {}

    /** Returns the scheduler that cancels requests at their deadline. */
    static ScheduledExecutorService timeoutScheduler() {
        ScheduledThreadPoolExecutor scheduler =
                new ScheduledThreadPoolExecutor(1, task -> daemon(task, "webhook-timeout"));
        scheduler.setRemoveOnCancelPolicy(true);
        return scheduler;
    }

    /** Returns the threads that resolve names. {@link NameLookups} limits their number. */
    static ExecutorService resolverPool() {
        return new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                30,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                task -> daemon(task, "webhook-resolver"));
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, "carillon-" + name);
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler(
                (t, failure) -> log.error("thread ended by an exception thread={}", t.getName(), failure));
        return thread;
    }
}
