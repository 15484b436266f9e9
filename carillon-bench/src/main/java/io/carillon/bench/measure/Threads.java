package io.carillon.bench.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The only class of this package that creates threads. */
public final class Threads {
    private Threads() {}

    /** Does the same work on several threads and returns the result of each when all are done. */
    public static <T> List<T> runConcurrently(int threads, Callable<T> work) {
        ExecutorService pool = Executors.newFixedThreadPool(threads, run -> daemon("bench-worker", run));
        try {
            List<Future<T>> futures = new ArrayList<>();
            for (int i = 0; i < threads; i++) futures.add(pool.submit(work));
            List<T> answers = new ArrayList<>();
            for (Future<T> future : futures) answers.add(future.get());
            return answers;
        } catch (ExecutionException e) {
            throw new MeasureException("A benchmark thread failed: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasureException("The measurement was interrupted.", e);
        } finally {
            pool.shutdownNow();
        }
    }

    /** Starts a daemon thread. */
    public static Thread start(String name, Runnable work) {
        Thread thread = daemon(name, work);
        thread.start();
        return thread;
    }

    private static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }
}
