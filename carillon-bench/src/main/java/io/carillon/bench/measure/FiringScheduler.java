package io.carillon.bench.measure;

import java.time.Instant;
import java.util.function.Consumer;

/** A scheduler that fires many schedules. */
@FunctionalInterface
public interface FiringScheduler {
    /**
     * Stores the schedules of the plan and starts a node.
     *
     * @param first the first instant of the first schedule
     * @param fired receives the planned instant when a handler starts
     */
    AutoCloseable start(FirePlan plan, Instant first, Consumer<Instant> fired) throws Exception;
}
