package io.carillon.webhook.hosts;

import java.util.HashMap;
import java.util.Map;

/**
 * Divides the places of a resource of this node between projects. A project may hold half of the places that the other
 * projects leave, and always one if a place is free. So one project leaves half of the places to the others; several
 * projects together can take them all, unless the user of this class prevents it. Projects without a place are not
 * stored. Thread-safe.
 */
public final class ProjectShares {
    private final int places;
    private final Map<String, Integer> heldByProject = new HashMap<>();
    private int held;

    /**
     * Creates shares of a resource.
     *
     * @param places the number of places of all projects together
     */
    public ProjectShares(int places) {
        this.places = places;
    }

    /** Takes a place. Returns false if the share of the project is used up; otherwise the caller must release it. */
    public synchronized boolean tryAcquire(String project) {
        int own = heldByProject.getOrDefault(project, 0);
        int leftByOthers = places - (held - own);
        if (held >= places || own >= Math.max(1, leftByOthers / 2)) return false;
        heldByProject.put(project, own + 1);
        held++;
        return true;
    }

    /** Takes a place although the share of the project or all places may be used up. The caller must release it. */
    public synchronized void acquire(String project) {
        heldByProject.merge(project, 1, Integer::sum);
        held++;
    }

    /** Returns whether no place is free. */
    public synchronized boolean isFull() {
        return held >= places;
    }

    /** Returns the number of places that the project holds. */
    public synchronized int heldBy(String project) {
        return heldByProject.getOrDefault(project, 0);
    }

    /** Returns a place that the project holds. */
    public synchronized void release(String project) {
        if (heldByProject.computeIfPresent(project, (name, own) -> own - 1) == null)
            throw new IllegalStateException("project holds no place: " + project);
        held--;
        heldByProject.remove(project, 0);
    }
}
