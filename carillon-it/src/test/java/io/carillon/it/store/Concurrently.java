package io.carillon.it.store;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs an action in many threads that begin at the same moment. */
final class Concurrently {
    private static final int LIMIT_SECONDS = 60;

    private Concurrently() {}

    /** The action of one thread. */
    interface Part<T> {
        T run(int thread) throws Exception;
    }

    /** Returns the results by thread, and throws the first failure. */
    static <T> List<T> run(int threads, Part<T> part) {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            CyclicBarrier start = new CyclicBarrier(threads);
            List<Future<T>> parts = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int thread = i;
                parts.add(pool.submit(() -> {
                    start.await(LIMIT_SECONDS, TimeUnit.SECONDS);
                    return part.run(thread);
                }));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> one : parts) results.add(one.get(LIMIT_SECONDS, TimeUnit.SECONDS));
            return results;
        } catch (ExecutionException e) {
            throw new AssertionError("a thread failed: " + e.getCause(), e.getCause());
        } catch (Exception e) {
            throw new AssertionError(e);
        } finally {
            pool.shutdownNow();
        }
    }
}
