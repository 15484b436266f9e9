package io.carillon;

import io.carillon.internal.store.run.BulkAction;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.LongPredicate;

/**
 * Actions on all runs that match a filter. An action works in the database in chunks of 1,000 runs and commits each
 * chunk. It can be stopped between chunks with {@link #continueWhile}; the committed chunks stay.
 */
public final class BulkActions {
    /**
     * The result of a bulk action.
     *
     * @param done how many runs were changed
     * @param aborted whether the condition of {@link #continueWhile}, or an interrupt while all remaining runs were
     *     locked, stopped the action
     */
    public record Result(long done, boolean aborted) {}

    /**
     * The result of a count that reads a limited number of runs.
     *
     * @param matching how many of the runs that were read match
     * @param complete whether all runs were read; if not, at least {@code matching} runs match
     */
    public record Count(long matching, boolean complete) {}

    /** An action on all runs that match a filter, for {@link #applyChunk}. */
    public sealed interface Action {
        /** Ends waiting runs and asks running ones to stop. */
        record Cancel(String reason) implements Action {}

        /** Makes waiting runs due at another instant. */
        record Reschedule(Instant due) implements Action {}

        /** Starts dead runs again as new runs. */
        record Redrive() implements Action {}

        /** Removes dead runs permanently. */
        record Delete() implements Action {}
    }

    private static final Set<RunState> UNFINISHED = Set.of(RunState.WAITING, RunState.RUNNING);
    private static final Set<RunState> DEAD = Set.of(RunState.DEAD, RunState.QUARANTINED);

    private final RunAdmin admin;
    private final String project;
    private final RunFilter filter;
    private final Runnable wakeNodes;
    private final LongPredicate continueCondition;

    BulkActions(RunAdmin admin, String project, RunFilter filter, Runnable wakeNodes, LongPredicate continueCondition) {
        this.admin = admin;
        this.project = project;
        this.filter = filter;
        this.wakeNodes = wakeNodes;
        this.continueCondition = continueCondition;
    }

    /**
     * Returns bulk actions that continue only while the condition holds. The condition is tested after each chunk, with
     * the number of runs changed so far. While other transactions lock all remaining runs, the condition is tested
     * every two seconds.
     */
    public BulkActions continueWhile(LongPredicate condition) {
        return new BulkActions(admin, project, filter, wakeNodes, condition);
    }

    /**
     * Returns how many runs match now. Reads all unfinished runs of the project, or of the queue if the filter names
     * one, or all dead runs of the project, also those that do not match; {@link #countFirst} stops earlier.
     */
    public long count() {
        return countFirst(Long.MAX_VALUE).matching();
    }

    /**
     * Counts the runs that match now and stops after it has read {@code maxRead} unfinished runs of the project, or of
     * the queue if the filter names one, or {@code maxRead} dead runs of the project.
     */
    public Count countFirst(long maxRead) {
        Set<RunState> countable = EnumSet.copyOf(UNFINISHED);
        countable.addAll(DEAD);
        check(countable, "counted");
        if (maxRead < 1)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "maxRead must be at least 1 (was %d).".formatted(maxRead));
        RunAdmin.Count count = admin.count(project, filter, maxRead);
        return new Count(count.matching(), count.complete());
    }

    /** Cancels the matching runs. Waiting runs end immediately; running attempts are asked to stop. */
    public Result cancel() {
        return applyInChunks(UNFINISHED, "cancelled", new BulkAction.Cancel("cancelled by the application"));
    }

    /** Changes the due time of the matching waiting runs. Ticks and runs that wait for a gate are not changed. */
    public Result reschedule(Instant due) {
        return applyInChunks(Set.of(RunState.WAITING), "rescheduled", new BulkAction.Reschedule(due));
    }

    /** Creates a new, linked run from each matching dead run. A dead run whose unique key is in use stays dead. */
    public Result redrive() {
        return applyInChunks(DEAD, "redriven", new BulkAction.Redrive());
    }

    /** Deletes the matching dead runs permanently. Their history stays until retention removes it. */
    public Result delete() {
        return applyInChunks(DEAD, "deleted", new BulkAction.Delete());
    }

    /**
     * Returns this object if the action is allowed for runs in the state of the filter.
     *
     * @throws CarillonException with {@link ErrorCode#INVALID_OPTION} if the action is not allowed
     */
    public BulkActions requireAllowed(Action action) {
        if (action instanceof Action.Cancel) check(UNFINISHED, "cancelled");
        else if (action instanceof Action.Reschedule) check(Set.of(RunState.WAITING), "rescheduled");
        else check(DEAD, action instanceof Action.Redrive ? "redriven" : "deleted");
        return this;
    }

    /**
     * Applies the action to at most 1,000 runs that existed at the given instant of the database clock, for callers
     * with their own loop.
     *
     * @return how many runs were changed; 0 if no run is left; negative if other transactions lock all remaining runs
     */
    public int applyChunk(Action action, Instant existing) {
        int done = requireAllowed(action).admin.bulk(project, filter, toBulkAction(action), existing);
        wakeNodes.run();
        return done;
    }

    private static BulkAction toBulkAction(Action action) {
        if (action instanceof Action.Cancel cancel) return new BulkAction.Cancel(cancel.reason());
        if (action instanceof Action.Reschedule to) return new BulkAction.Reschedule(to.due());
        return action instanceof Action.Redrive ? new BulkAction.Redrive() : new BulkAction.Delete();
    }

    private Result applyInChunks(Set<RunState> allowed, String what, BulkAction action) {
        check(allowed, what);
        long done = 0;
        boolean proceed = true;
        try {
            for (int chunk = -1; chunk != 0 && proceed; ) {
                chunk = admin.bulk(project, filter, action);
                done += Math.max(0, chunk);
                if (chunk != 0) proceed = continueCondition.test(done);
                // A lock may be held for a long time, and the caller may have set no condition.
                if (chunk == RunAdmin.LOCKED && Thread.currentThread().isInterrupted()) proceed = false;
            }
        } finally {
            wakeNodes.run();
        }
        return new Result(done, !proceed);
    }

    private void check(Set<RunState> allowed, String what) {
        RunState state = filter.state();
        if (state == null || !allowed.contains(state))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Runs in state %s cannot be %s. Set one of the states %s in the filter."
                            .formatted(state == null ? "any" : state.text(), what, allowed));
    }
}
