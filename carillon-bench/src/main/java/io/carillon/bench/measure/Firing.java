package io.carillon.bench.measure;

import java.time.Instant;
import java.util.function.Consumer;

/** A scheduler that can be asked to fire many schedules. */
@FunctionalInterface
public interface Firing {
    /** Stores the schedules of the plan, the first of them due at {@code first}, and starts a node that reports each planned instant when its handler starts. */
    AutoCloseable start(FirePlan plan, Instant first, Consumer<Instant> fired) throws Exception;
}
