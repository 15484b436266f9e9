package io.carillon.server.http;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * Bounds the requests that use a thread and the database at the same time: in total, for each project, and for callers
 * without a key. A permit is held while a caller is identified and while an action runs, never while a body arrives.
 */
final class RequestPermits {
    /**
     * Fewer than the threads of the HTTP server: when all these requests wait for a database that does not answer,
     * threads are left for health checks and for answering further requests with 503.
     */
    static final int TOTAL = 120;
    /** One project leaves half of the permits to the others. */
    static final int PER_PROJECT = 60;
    /** Callers without a key have permits of their own, so that they take none from callers with a key. */
    static final int PUBLIC = 20;

    private final Semaphore total = new Semaphore(TOTAL);
    private final Semaphore open = new Semaphore(PUBLIC);
    private final Map<String, Integer> byProject = new ConcurrentHashMap<>();

    /** A permit, to be released once. */
    @FunctionalInterface
    interface Permit {
        void release();
    }

    /** Takes a permit to identify a caller, whose project is not known yet. */
    Permit toIdentify() {
        return take(total);
    }

    /** Takes a permit for an action of a public route. */
    Permit forPublic() {
        return take(open);
    }

    /** Takes a permit for an action of this project. */
    Permit forProject(String project) {
        Permit permit = take(total);
        if (byProject.merge(project, 1, Integer::sum) > PER_PROJECT) {
            release(project);
            permit.release();
            throw ErrorMapping.projectBusy(PER_PROJECT);
        }
        return () -> {
            release(project);
            permit.release();
        };
    }

    private void release(String project) {
        byProject.computeIfPresent(project, (name, count) -> count == 1 ? null : count - 1);
    }

    private static Permit take(Semaphore semaphore) {
        if (!semaphore.tryAcquire()) throw ErrorMapping.busy();
        return semaphore::release;
    }
}
