package io.carillon.internal.run;

import io.carillon.internal.value.Names;

/** One queue of one project: the unit of fairness, limits, breaker and pause. */
public record Lane(String queue, String project) {
    /**
     * Returns whether the lane has a breaker unless a setting says otherwise: the queue of an endpoint stands for one
     * receiver, which works or fails as a whole. Other queues do not have one, because a handler that fails for some of
     * its inputs must not stop its other runs.
     */
    public boolean hasBreakerByDefault() {
        return queue.startsWith(Names.ENDPOINT_QUEUE_PREFIX);
    }
}
