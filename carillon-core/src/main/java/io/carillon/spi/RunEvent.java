package io.carillon.spi;

import java.time.Duration;

/** The start or the end of an attempt on this node. Later versions may add events. */
public sealed interface RunEvent {
    /** Returns the run of the attempt. */
    RunInfo run();

    /**
     * An attempt is about to call its handler.
     *
     * @param lateness the time since the planned instant of a tick, also after an outage or a retry; the time since the
     *     due time of any other run
     * @param waited the time since the due time; zero if negative
     */
    record AttemptStarted(RunInfo run, Duration lateness, Duration waited) implements RunEvent {}

    /** An attempt ended, and its end is stored in the database. */
    sealed interface AttemptEnded extends RunEvent {
        /** Returns the duration of the attempt. */
        Duration took();
    }

    /** The run succeeded. */
    record Succeeded(RunInfo run, Duration took) implements AttemptEnded {}

    /**
     * The attempt failed, and the run is tried again after the delay. After the last allowed failure the event is
     * {@link Dead}.
     *
     * @param error the exception of the handler as text, or the reason of the failure
     * @param timedOut whether the attempt exceeded its timeout
     * @param retryAfter the delay until the next attempt
     */
    record Failed(RunInfo run, Duration took, String error, boolean timedOut, Duration retryAfter)
            implements AttemptEnded {}

    /** The run ended dead: its retries are used up, or its handler rejected it. */
    record Dead(RunInfo run, Duration took, String error) implements AttemptEnded {}

    /** The run ended because it was cancelled. */
    record Cancelled(RunInfo run, Duration took, String reason) implements AttemptEnded {}

    /** The run is tried again after the delay. No failure is counted. */
    record Snoozed(RunInfo run, Duration took, Duration delay) implements AttemptEnded {}

    /** Another system continues the attempt and calls back within the timeout. */
    record AwaitingCallback(RunInfo run, Duration took, Duration timeout) implements AttemptEnded {}
}
