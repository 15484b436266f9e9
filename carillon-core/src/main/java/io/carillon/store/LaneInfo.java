package io.carillon.store;

import io.carillon.run.Lane;
import io.carillon.run.Limits;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A lane as users see it: how much waits (counted up to a bound), its limits, and who paused it. */
public record LaneInfo(
        Lane lane,
        long waiting,
        long running,
        Limits limits,
        @Nullable Pause pause) {
    /** Who stopped it, when and why. */
    public record Pause(
            Instant at, @Nullable String by, @Nullable String reason) {}
}
