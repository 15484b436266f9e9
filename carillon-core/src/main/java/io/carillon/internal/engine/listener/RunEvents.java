package io.carillon.internal.engine.listener;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.RunInfos;
import io.carillon.internal.run.Transition;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunInfo;
import java.time.Duration;

/** Creates the events of attempts that listeners receive. */
final class RunEvents {
    private RunEvents() {}

    /**
     * Returns the event for the start of an attempt.
     *
     * @param late the time since the planned instant of a tick, since the due time of any other run
     */
    static RunEvent started(Attempt attempt, Duration late) {
        Attempt.Times times = attempt.times();
        Duration waited = late.minus(Duration.between(times.expectedAt(attempt.origin()), times.dueAt()));
        return new RunEvent.AttemptStarted(RunInfos.of(attempt), late, waited.isNegative() ? Duration.ZERO : waited);
    }

    /** Returns the event for the end of an attempt. */
    static RunEvent ended(Attempt attempt, Transition transition, Duration took) {
        RunInfo run = RunInfos.of(attempt);
        if (transition instanceof Transition.Complete) return new RunEvent.Succeeded(run, took);
        if (transition instanceof Transition.Retry retry)
            return new RunEvent.Failed(run, took, retry.error(), retry.timedOut(), retry.delay());
        if (transition instanceof Transition.MarkDead markDead) return new RunEvent.Dead(run, took, markDead.error());
        if (transition instanceof Transition.Cancel cancel) return new RunEvent.Cancelled(run, took, cancel.reason());
        if (transition instanceof Transition.Snooze snooze) return new RunEvent.Snoozed(run, took, snooze.delay());
        if (transition instanceof Transition.AwaitCallback awaitCallback)
            return new RunEvent.AwaitingCallback(run, took, awaitCallback.timeout());
        throw new AssertionError("no event for " + transition.getClass().getSimpleName());
    }
}
