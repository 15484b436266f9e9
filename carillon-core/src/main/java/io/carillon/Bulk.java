package io.carillon;

import io.carillon.run.Progress;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.store.BulkDeed;
import io.carillon.store.RunDesk;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Something done to all runs that match a filter: in the database, in chunks of a thousand, each of them committed. It can be watched and broken off; what was
 * done until then stays done.
 */
public final class Bulk {
    /** How many runs were changed, and whether the watcher, or an interrupt during a wait for locked runs, broke it off. */
    public record Result(long done, boolean aborted) {}

    /** How far runs are counted before something is done to them: beyond, the number is not worth reading them all. */
    public static final long COUNTED = 10_000;

    private static final Set<RunState> LIVING = Set.of(RunState.WAITING, RunState.RUNNING);
    private static final Set<RunState> DEAD = Set.of(RunState.DEAD, RunState.QUARANTINED);

    private final RunDesk desk;
    private final String project;
    private final RunFilter filter;
    private final Runnable woken;
    private final Predicate<Progress> watcher;

    Bulk(RunDesk desk, String project, RunFilter filter, Runnable woken, Predicate<Progress> watcher) {
        this.desk = desk;
        this.project = project;
        this.filter = filter;
        this.woken = woken;
        this.watcher = watcher;
    }

    /**
     * The same, watched: after each chunk it is asked with what is done and what matched at the start, counted up to {@link #COUNTED}; false breaks it off.
     * While all runs that are left are locked by other transactions, it is asked every two seconds.
     */
    public Bulk watched(Predicate<Progress> goOn) {
        return new Bulk(desk, project, filter, woken, goOn);
    }

    /** How many runs match now. Nothing is changed. It reads all of them; {@link #count(long)} stops earlier. */
    public long count() {
        return count(Long.MAX_VALUE);
    }

    /** Counts the runs that match now up to this many: a result of {@code atMost} means that many or more. */
    public long count(long atMost) {
        Set<RunState> countable = EnumSet.copyOf(LIVING);
        countable.addAll(DEAD);
        check(countable, "counted");
        return desk.count(project, filter, atMost);
    }

    /** Ends those that wait, and tells those that run to stop. */
    public Result cancel() {
        return each(LIVING, "cancelled", new BulkDeed.Cancel("cancelled by the application"));
    }

    /** Makes those that wait due at another instant. Ticks keep their planned instant, and what waits behind a gate its place: both are left alone. */
    public Result reschedule(Instant due) {
        return each(Set.of(RunState.WAITING), "rescheduled", new BulkDeed.Reschedule(due));
    }

    /** Gives dead runs another life as new, linked runs. Those whose key is taken stay dead. */
    public Result redrive() {
        return each(DEAD, "redriven", new BulkDeed.Redrive());
    }

    /** Removes dead runs for good; their history stays until it is old. */
    public Result delete() {
        return each(DEAD, "deleted", new BulkDeed.Delete());
    }

    /** The same, if this can be done to runs in the state the filter names. */
    public Bulk checked(BulkDeed deed) {
        if (deed instanceof BulkDeed.Cancel) check(LIVING, "cancelled");
        else if (deed instanceof BulkDeed.Reschedule) check(Set.of(RunState.WAITING), "rescheduled");
        else check(DEAD, deed instanceof BulkDeed.Redrive ? "redriven" : "deleted");
        return this;
    }

    /**
     * Does it to the next thousand at most that existed at this instant of the database, and returns to how many; 0: there are no more; a negative number: all
     * that are left are locked by other transactions. For callers with a loop of their own.
     */
    public int chunk(BulkDeed deed, Instant existing) {
        int done = checked(deed).desk.bulk(project, filter, deed, existing);
        woken.run();
        return done;
    }

    private Result each(Set<RunState> allowed, String what, BulkDeed deed) {
        check(allowed, what);
        long total = count(COUNTED);
        long done = 0;
        boolean goOn = true;
        try {
            for (int chunk = -1; chunk != 0 && goOn; ) {
                chunk = desk.bulk(project, filter, deed);
                done += Math.max(0, chunk);
                if (chunk != 0) goOn = watcher.test(new Progress(done, Math.max(done, total)));
                // The lock may stay for long, and a caller without a watcher can only interrupt.
                if (chunk == RunDesk.LOCKED && Thread.currentThread().isInterrupted()) goOn = false;
            }
        } finally {
            woken.run();
        }
        return new Result(done, !goOn);
    }

    private void check(Set<RunState> allowed, String what) {
        RunState state = filter.state();
        if (state == null || !allowed.contains(state))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Runs in state %s cannot be %s. Choose one of %s in the filter."
                            .formatted(state == null ? "any" : state.text(), what, allowed));
    }
}
