package io.carillon.internal.store.stats;

import io.carillon.Stats.RunStats;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import org.jspecify.annotations.Nullable;

/** Counts what a statement ended, after its commit, for the statistics. */
@FunctionalInterface
public interface EndingCounter {
    /** Counts nothing. */
    EndingCounter NONE = (series, what, number) -> {};

    /** What a count belongs to: the runs of a handler in a queue of a project. */
    record Series(String project, String queue, String target) {}

    /** Returns the series of an attempt. */
    static Series seriesOf(Attempt attempt) {
        return new Series(
                attempt.lane().project(),
                attempt.lane().queue(),
                attempt.target().name());
    }

    /** Returns what is counted for the end of an attempt; null if nothing is, because the run goes on. */
    static RunStats.@Nullable Count countOf(Transition transition) {
        if (transition instanceof Transition.Complete) return RunStats.Count.SUCCEEDED;
        if (transition instanceof Transition.Retry) return RunStats.Count.RETRIED;
        if (transition instanceof Transition.MarkDead) return RunStats.Count.DEAD;
        return transition instanceof Transition.Cancel ? RunStats.Count.CANCELLED : null;
    }

    /** Adds runs, planned instants or attempts. */
    void count(Series series, RunStats.Count what, long number);
}
