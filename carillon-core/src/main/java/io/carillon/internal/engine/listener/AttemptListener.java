package io.carillon.internal.engine.listener;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import java.time.Duration;

/** Receives the start and the end of each attempt from the engine. */
public interface AttemptListener {
    /**
     * Called before an attempt calls its handler.
     *
     * @param late the time since the planned instant of a tick, since the due time of any other run
     */
    void onAttemptStarted(Attempt attempt, Duration late);

    /** Called after an attempt has ended and the transition is stored in the database. */
    void onAttemptEnded(Attempt attempt, Transition transition, Duration took);
}
