package io.carillon.server.http;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

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
    /** Callers without a key have permits of their own, so that they take none from callers with a key. */
    static final int PUBLIC = 20;
    /**
     * How many requests of callers without a key execute at the same time. Otherwise a flood of them, such as callbacks
     * with invented tokens, would use all connections to the database.
     */
    static final int PUBLIC_TOGETHER = RequestTurns.TOGETHER / 2;

    private static final long MAX_WAIT_SECONDS = 10;

    private final Semaphore total = new Semaphore(TOTAL);
    private final Semaphore open = new Semaphore(PUBLIC);
    /** The requests of public routes that execute; the others wait, in order. */
    private final Semaphore openExecuting = new Semaphore(PUBLIC_TOGETHER, true);

    private final Map<String, Integer> byProject = new HashMap<>();
    private int ofProjects;

    /** A permit, to be released once. */
    @FunctionalInterface
    interface Permit {
        void release();
    }

    /** Takes a permit to identify a caller, whose project is not known yet. */
    Permit toIdentify() {
        return take(total);
    }

    /** Returns how many further callers without a key could wait or execute. */
    int freePublic() {
        return open.availablePermits();
    }

    /** Takes a permit for an action of a public route, and waits until it may be executed. */
    Permit forPublic() {
        Permit permit = take(open);
        boolean executing = false;
        try {
            executing = openExecuting.tryAcquire(MAX_WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        } finally {
            if (!executing) permit.release();
        }
        if (!executing) throw ErrorMapping.busy();
        return () -> {
            openExecuting.release();
            permit.release();
        };
    }

    /**
     * Takes a permit for an action of this project. A project has half of the permits that the other projects leave, so
     * that several projects together do not take all of them either.
     */
    Permit forProject(String project) {
        Permit permit = take(total);
        if (!tryAdd(project)) {
            permit.release();
            throw ErrorMapping.projectBusy();
        }
        return () -> {
            remove(project);
            permit.release();
        };
    }

    private synchronized boolean tryAdd(String project) {
        int own = byProject.getOrDefault(project, 0);
        int leftByOthers = TOTAL - (ofProjects - own);
        if (own + 1 > leftByOthers / 2) return false;
        byProject.put(project, own + 1);
        ofProjects++;
        return true;
    }

    private synchronized void remove(String project) {
        byProject.computeIfPresent(project, (name, own) -> own == 1 ? null : own - 1);
        ofProjects--;
    }

    private static Permit take(Semaphore semaphore) {
        if (!semaphore.tryAcquire()) throw ErrorMapping.busy();
        return semaphore::release;
    }
}
