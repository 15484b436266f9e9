package io.carillon.run;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * Hears of attempts on this node, in order, a moment after they happened. It may be slow and may throw: runs neither wait nor fail for it. One that falls far
 * behind is not told everything, unless it is {@link #quick}. An end is told once it is written: an attempt that follows at once may be heard of first.
 */
public interface RunListener {
    /** Hears nothing. */
    RunListener NONE = new RunListener() {};

    /** Whether it only counts and returns at once: then it hears everything, on the engine's own threads. One that may wait for anything is not quick. */
    default boolean quick() {
        return false;
    }

    /** An attempt is about to call its handler. */
    default void started(Attempt attempt) {}

    /**
     * The same with how late the attempt starts: since the planned instant of a tick, also after an outage or a retry, and since the due time of any other run.
     * The engine calls this one.
     */
    default void started(Attempt attempt, Duration late) {
        started(attempt);
    }

    /** An attempt is over and what was decided is in the database. */
    default void ended(Attempt attempt, Transition transition, Duration took) {}

    /** Told after {@link #ended}: the run has no attempt left, or its handler rejected it, and lies in the dead letter. */
    default void dead(Attempt attempt, String error) {}

    /** This node planned a schedule: so many ticks were born. */
    default void planned(String project, String schedule, int ticks) {}

    /** Tells both, and the second even if the first fails. */
    static RunListener both(RunListener first, RunListener second) {
        if (first == NONE) return second;
        return new RunListener() {
            @Override
            public void started(Attempt attempt, Duration waited) {
                each(one -> one.started(attempt, waited));
            }

            @Override
            public void ended(Attempt attempt, Transition transition, Duration took) {
                each(one -> one.ended(attempt, transition, took));
            }

            @Override
            public void dead(Attempt attempt, String error) {
                each(one -> one.dead(attempt, error));
            }

            @Override
            public void planned(String project, String schedule, int ticks) {
                each(one -> one.planned(project, schedule, ticks));
            }

            private void each(Consumer<RunListener> news) {
                try {
                    news.accept(first);
                } finally {
                    news.accept(second);
                }
            }
        };
    }
}
