package io.carillon;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A queue of a project.
 *
 * @param waiting the number of waiting runs, counted up to a limit
 * @param breaker null if the breaker is closed
 * @param pause null if the queue is not paused
 */
public record QueueInfo(
        String project,
        String name,
        long waiting,
        long running,
        QueueLimits limits,
        int weight,
        @Nullable Breaker breaker,
        @Nullable Pause pause) {
    /** A breaker that is {@code open} or {@code half-open}. {@code until} is the time of its next probe. */
    public record Breaker(String state, @Nullable Instant until) {}

    /** The pause of a queue: its start, the user who paused it (null if unknown), and the reason (null if none). */
    public record Pause(
            Instant at, @Nullable String by, @Nullable String reason) {}
}
