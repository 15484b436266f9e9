package io.carillon.store;

import io.carillon.run.Lane;
import io.carillon.run.Limits;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A lane as users see it: how much waits (counted up to a bound), its limits, its weight beside other lanes, its breaker if most attempts fail, and who paused it. */
public record LaneInfo(
        Lane lane,
        long waiting,
        long running,
        Limits limits,
        int weight,
        @Nullable Breaker breaker,
        @Nullable Pause pause) {
    /** A breaker that is not closed: {@code open} or {@code half-open}, and when it will be probed (again). */
    public record Breaker(String state, @Nullable Instant until) {}

    /** Who stopped it, when and why. */
    public record Pause(
            Instant at, @Nullable String by, @Nullable String reason) {}
}
