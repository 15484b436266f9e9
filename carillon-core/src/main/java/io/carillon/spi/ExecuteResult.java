package io.carillon.spi;

import io.carillon.run.Run;
import io.carillon.run.RunState;
import java.time.Instant;

/** What {@code Carillon.execute} did with a run. Only {@link Executed} has called a handler. */
public sealed interface ExecuteResult {
    /**
     * An attempt was executed. If the run has not ended, it waits for its next attempt: a workflow for the end of its
     * wait, a failed run for its retry.
     *
     * @param run the run after the attempt
     * @param failed whether the attempt failed, or its end could not be recorded
     */
    record Executed(Run run, boolean failed) implements ExecuteResult {}

    /** The run is not due yet. Call again at this instant. */
    record NotDue(Instant readyAt) implements ExecuteResult {}

    /**
     * The run may not start now: its queue is paused or at its limit, it waits for other runs or for a signal, or
     * another process was about to claim it. Call again later.
     *
     * @param reason the reasons, in words
     */
    record NotReady(String reason) implements ExecuteResult {}

    /** Another process executes this attempt of the run. */
    record Running(int attempt) implements ExecuteResult {}

    /** The run has ended. */
    record Ended(RunState state) implements ExecuteResult {}

    /** The project has no such run, or its history was removed. */
    record Unknown() implements ExecuteResult {}
}
