package io.carillon;

import io.carillon.internal.store.run.BulkAction;
import io.carillon.internal.store.run.BulkChunk;
import io.carillon.internal.store.run.BulkCursor;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;

/**
 * Actions on all runs that match a filter and exist when the action begins. An action works in the database in chunks
 * of 1,000 runs and commits each chunk. It visits each run once, in the order of the ids, so that it ends although
 * other callers change the same runs. It can be stopped between chunks with {@link #continueWhile}; the committed
 * chunks stay.
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

    /**
     * The position of a bulk action in the runs of its project, for {@link #applyChunk}.
     *
     * @param after the id up to which all runs were read
     * @param last the largest id when the action began
     * @param begunAt when the action began, by the database clock
     * @param locked runs that other transactions had locked when they were read; they are changed last
     */
    public record Cursor(UUID after, UUID last, Instant begunAt, List<UUID> locked) {
        public Cursor {
            locked = List.copyOf(locked);
        }
    }

    /**
     * The result of {@link #applyChunk}.
     *
     * @param done how many runs were changed
     * @param next where the action continues
     * @param finished whether no run is left
     * @param blocked whether other transactions lock all runs that are left; the caller tries again later
     */
    public record Chunk(int done, Cursor next, boolean finished, boolean blocked) {}

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

    /** Returns the position before the first run, for {@link #applyChunk}. Runs that are created later do not count. */
    public Cursor begin() {
        BulkCursor cursor = beginBulk();
        return new Cursor(cursor.after(), cursor.last(), cursor.existingAt(), cursor.locked());
    }

    private BulkCursor beginBulk() {
        RunState state = filter.state();
        return admin.beginBulk(project, state != null && DEAD.contains(state));
    }

    /** Applies the action to at most 1,000 runs, for callers with their own loop, and does not wait for locked runs. */
    public Chunk applyChunk(Action action, Cursor cursor) {
        requireAllowed(action);
        BulkChunk chunk = admin.bulk(
                project,
                filter,
                toBulkAction(action),
                new BulkCursor(cursor.after, cursor.last, cursor.begunAt, cursor.locked));
        wakeNodes.run();
        BulkCursor next = chunk.next();
        return new Chunk(
                chunk.done(),
                new Cursor(next.after(), next.last(), next.existingAt(), next.locked()),
                next.isFinished(),
                chunk.blocked());
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
            for (BulkCursor cursor = beginBulk(); !cursor.isFinished() && proceed; ) {
                BulkChunk chunk = admin.bulk(project, filter, action, cursor);
                cursor = chunk.next();
                done += chunk.done();
                if (chunk.blocked()) admin.awaitUnlocked(project, filter, action, cursor);
                proceed = continueCondition.test(done);
                // A lock may be held for a long time, and the caller may have set no condition.
                if (chunk.blocked() && Thread.currentThread().isInterrupted()) proceed = false;
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
                    "Runs in state %s cannot be %s. Set the state %s."
                            .formatted(
                                    state == null ? "any" : state.text(),
                                    what,
                                    allowed.stream()
                                            .map(RunState::text)
                                            .sorted()
                                            .collect(Collectors.joining(" or "))));
    }
}
