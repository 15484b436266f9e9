package io.carillon.internal.store.run;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that has ended, with the transition to write.
 *
 * @param sinceStart how long ago it started
 * @param log null if the handler wrote no log
 * @param keepPayload whether the history keeps the payload if this attempt ends the run
 * @param delivery the target's description of its delivery; null if there is none
 */
public record EndedAttempt(
        Attempt attempt,
        Transition transition,
        Duration sinceStart,
        @Nullable String log,
        boolean keepPayload,
        @Nullable String delivery) {
    /** Creates an ended attempt without payload and delivery. */
    public EndedAttempt(Attempt attempt, Transition transition, Duration sinceStart, @Nullable String log) {
        this(attempt, transition, sinceStart, log, false, null);
    }
}
