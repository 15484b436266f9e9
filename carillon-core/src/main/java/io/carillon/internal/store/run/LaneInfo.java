package io.carillon.internal.store.run;

import io.carillon.QueueLimits;
import io.carillon.internal.run.Lane;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A lane with its settings and the number of its runs.
 *
 * @param breaker null if the lane has no breaker
 * @param pause null if the lane is not paused
 */
public record LaneInfo(
        Lane lane,
        Counts counts,
        QueueLimits limits,
        int weight,
        @Nullable Breaker breaker,
        @Nullable Pause pause) {
    /**
     * The numbers of waiting and running runs.
     *
     * @param complete whether these are all; there are at least these otherwise
     * @param waitingSince since when the oldest of the counted runs waits; null if none is due
     */
    public record Counts(
            long waiting,
            long running,
            boolean complete,
            @Nullable Instant waitingSince) {}

    /**
     * A breaker.
     *
     * @param state {@code closed}, {@code open} or {@code half-open}
     * @param until the time of the next probe; null if the breaker is closed
     */
    public record Breaker(String state, @Nullable Instant until) {}

    /** The pause of a lane: its start, the user who paused it (null if unknown), and the reason (null if none). */
    public record Pause(
            Instant at, @Nullable String by, @Nullable String reason) {}
}
