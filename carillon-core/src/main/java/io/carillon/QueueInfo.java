package io.carillon;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A queue of a project.
 *
 * @param waitingSince since when the run waits that has waited longest of those counted; null if none is due
 * @param complete whether all runs were counted; if not, there are at least this many waiting and running runs
 * @param breaker null if the queue has no breaker
 * @param pause null if the queue is not paused
 */
public record QueueInfo(
        String project,
        String name,
        long waiting,
        long running,
        @Nullable Instant waitingSince,
        boolean complete,
        QueueLimits limits,
        int weight,
        @Nullable Breaker breaker,
        @Nullable Pause pause) {
    /**
     * A breaker.
     *
     * @param state {@code closed}, {@code open} or {@code half-open}
     * @param until the time of the next probe; null if the breaker is closed
     */
    public record Breaker(String state, @Nullable Instant until) {}

    /** The pause of a queue: its start, the user who paused it (null if unknown), and the reason (null if none). */
    public record Pause(
            Instant at, @Nullable String by, @Nullable String reason) {}
}
