package io.carillon.spi;

import io.carillon.run.Outcome;
import io.carillon.schedule.ScheduleId;
import java.util.Map;

/**
 * Carries context, such as a trace or the caller's authorization, from the thread that enqueues a run to the thread
 * that executes it. The context is stored with the run as headers and passed to each attempt.
 */
public interface ContextPropagator {
    /** The rest of the attempt: the remaining propagators and the handler. */
    @FunctionalInterface
    interface AttemptCall {
        Outcome call() throws Exception;
    }

    /**
     * Returns the headers to store with a run. Called on the enqueuing thread before the run is stored. Header names
     * consist of lowercase letters, digits and hyphens; values contain no control characters.
     */
    Map<String, String> capture(RunInfo run);

    /**
     * Returns the headers to store with each future run of a schedule. Called on the thread that creates, changes or
     * re-saves the schedule. An empty map keeps the stored headers if the definition is unchanged, and removes them if
     * it changes.
     */
    default Map<String, String> captureForSchedule(ScheduleId schedule) {
        return Map.of();
    }

    /**
     * Executes an attempt with its context. Called on the executing thread with all stored headers. The implementation
     * must call {@code attemptCall} exactly once.
     */
    Outcome runWithContext(RunInfo run, Map<String, String> headers, AttemptCall attemptCall) throws Exception;
}
