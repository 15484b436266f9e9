package io.carillon.internal.run;

import io.carillon.run.Payload;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the engine decides after an attempt; the only way in which a run changes after its claim. Delays are durations
 * and not instants: the database adds them to its clock.
 */
public sealed interface Transition {
    /** The run succeeds. The result is null if there is none. */
    record Complete(@Nullable Payload result) implements Transition {}

    /** The failure is counted, and the run is tried again after the delay. */
    record Retry(Duration delay, String error, boolean timedOut) implements Transition {}

    /**
     * The run is tried again after the delay. No failure is counted.
     *
     * @param isWait whether a workflow waits, so that the attempt leaves no row of its own
     */
    record Snooze(Duration delay, boolean isWait) implements Transition {
        public Snooze(Duration delay) {
            this(delay, false);
        }
    }

    /**
     * The attempt stays open until another system completes it. Without a completion within the timeout the attempt
     * fails: the run is tried again after {@code retryDelay}, or ends dead if it is null.
     */
    record AwaitCallback(
            Duration timeout, String tokenDigest, @Nullable Duration retryDelay) implements Transition {}

    /** The run ends dead and keeps its payload. */
    record MarkDead(String error) implements Transition {}

    /** The run ends because it was cancelled. */
    record Cancel(String reason) implements Transition {}
}
