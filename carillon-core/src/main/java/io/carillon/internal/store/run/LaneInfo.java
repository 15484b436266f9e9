package io.carillon.internal.store.run;

import io.carillon.QueueLimits;
import io.carillon.internal.run.Lane;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A lane with its settings and the number of its runs.
 *
 * @param waiting the number of waiting runs, counted up to a limit
 * @param breaker null if the breaker is closed
 * @param pause null if the lane is not paused
 */
public record LaneInfo(
        Lane lane,
        long waiting,
        long running,
        QueueLimits limits,
        int weight,
        @Nullable Breaker breaker,
        @Nullable Pause pause) {
    /** A breaker that is {@code open} or {@code half-open}. {@code until} is the time of its next probe. */
    public record Breaker(String state, @Nullable Instant until) {}

    /** The pause of a lane: its start, the user who paused it (null if unknown), and the reason (null if none). */
    public record Pause(
            Instant at, @Nullable String by, @Nullable String reason) {}
}
