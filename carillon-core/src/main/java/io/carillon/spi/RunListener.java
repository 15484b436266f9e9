package io.carillon.spi;

import io.carillon.run.Attempt;
import io.carillon.run.Transition;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Receives the attempts of this node, in order, shortly after they happen. A slow or failing listener does not delay or
 * fail runs. A listener that falls far behind loses events, unless it is {@link #isNonBlocking}. The end of an attempt
 * is reported after it is stored, so the start of the next attempt may be reported first.
 */
public interface RunListener {
    /** A listener that ignores all events. */
    RunListener NONE = new RunListener() {};

    /**
     * Returns whether all methods of this listener return immediately, without waiting for locks or I/O. The engine
     * then calls them on its own threads and reports every event.
     */
    default boolean isNonBlocking() {
        return false;
    }

    /** Called before an attempt calls its handler. */
    default void onAttemptStarted(Attempt attempt) {}

    /**
     * Like {@link #onAttemptStarted(Attempt)}, but with the lateness of the attempt: the time since the planned instant
     * of a tick, also after an outage or a retry, and since the due time of any other run. The engine calls this
     * method.
     */
    default void onAttemptStarted(Attempt attempt, Duration late) {
        onAttemptStarted(attempt);
    }

    /** Called after an attempt has ended and the transition is stored in the database. */
    default void onAttemptEnded(Attempt attempt, Transition transition, Duration took) {}

    /**
     * Called after {@link #onAttemptEnded} if the run ended dead: its retries are used up, or its handler rejected it.
     */
    default void onRunDead(Attempt attempt, String error) {}

    /**
     * Called after this node planned a schedule.
     *
     * @param ticks how many ticks were stored
     */
    default void onTicksPlanned(String project, String schedule, int ticks) {}

    /** Returns a listener that calls both listeners, the second even if the first throws. */
    static RunListener combine(RunListener first, RunListener second) {
        if (first == NONE) return second;
        return new RunListener() {
            @Override
            public void onAttemptStarted(Attempt attempt, Duration waited) {
                each(listener -> listener.onAttemptStarted(attempt, waited));
            }

            @Override
            public void onAttemptEnded(Attempt attempt, Transition transition, Duration took) {
                each(listener -> listener.onAttemptEnded(attempt, transition, took));
            }

            @Override
            public void onRunDead(Attempt attempt, String error) {
                each(listener -> listener.onRunDead(attempt, error));
            }

            @Override
            public void onTicksPlanned(String project, String schedule, int ticks) {
                each(listener -> listener.onTicksPlanned(project, schedule, ticks));
            }

            private void each(Consumer<RunListener> event) {
                try {
                    event.accept(first);
                } finally {
                    event.accept(second);
                }
            }
        };
    }
}
