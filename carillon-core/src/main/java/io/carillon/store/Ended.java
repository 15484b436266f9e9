package io.carillon.store;

import io.carillon.run.Attempt;
import io.carillon.run.Transition;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One attempt that is over: what was decided, how long ago it started, and its log, if it wrote one.
 *
 * @param keepPayload whether history keeps the payload of the run, should this attempt end it
 * @param delivery what the target says about its delivery, for whoever reads it back
 */
public record Ended(
        Attempt attempt,
        Transition transition,
        Duration sinceStart,
        @Nullable String log,
        boolean keepPayload,
        @Nullable String delivery) {
    /** An attempt that keeps no payload and delivered nothing. */
    public Ended(Attempt attempt, Transition transition, Duration sinceStart, @Nullable String log) {
        this(attempt, transition, sinceStart, log, false, null);
    }
}
