package io.carillon.internal.store.run;

import io.carillon.run.AttemptRecord;
import io.carillon.run.CancelResult;
import io.carillon.run.Explanation;
import io.carillon.run.Payload;
import io.carillon.run.RedriveResult;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.workflow.RecordedStep;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Queries and manual actions on runs, each within one project. */
public interface RunAdmin {
    int MAX_CHILDREN = 1_000;

    Optional<Run> get(String project, RunId run);

    /** Returns those of these runs that exist. */
    List<Run> get(String project, Collection<RunId> runs);

    /** Returns runs that were started as children of this one, at most {@link #MAX_CHILDREN}. */
    List<Run> children(String project, RunId parent);

    /** Returns the newest runs that match, waiting, running and ended. */
    List<Run> list(String project, RunFilter filter);

    /** Returns the runs that match, ordered by id from newest to oldest, after the run that the query names. */
    List<Run> page(String project, RunQuery query);

    /** Returns a page with the position of the next one. */
    RunQuery.Page search(String project, RunQuery query);

    /**
     * Makes a waiting run due at another instant. Returns false if there is no such run, or if it is a tick or waits at
     * a gate.
     */
    boolean reschedule(String project, RunId run, Instant due);

    /** Cancels a waiting run immediately, or asks a running one to stop. */
    CancelResult cancel(String project, RunId run, String reason);

    /**
     * Ends an attempt that awaits a callback, as succeeded if {@code error} is null. Returns false if no attempt awaits
     * this callback, or not anymore.
     */
    boolean complete(String project, RunId run, int attempt, String digest, @Nullable String error);

    /** Starts dead runs again as new runs. Returns one result for each. */
    List<RedriveResult> redrive(String project, List<RunId> dead);

    /**
     * Like {@link #redrive(String, List)}, for one run, with another payload; null keeps the stored one. With {@code
     * keepSteps} the new run has the records of the workflow up to the step that failed.
     */
    RedriveResult redrive(String project, RunId dead, @Nullable Payload edited, boolean keepSteps);

    /** Returns the payload of a run; empty if the run does not exist or the history does not keep the payload. */
    Optional<Payload> payload(String project, RunId run);

    /** Returns the dead runs that match. */
    List<RunId> dead(String project, RunFilter filter);

    /**
     * A number of matching runs.
     *
     * @param complete whether all runs were read; if not, at least this many match
     */
    record Count(long matching, boolean complete) {}

    /**
     * Counts the runs that match among the first {@code maxRead} unfinished runs of the project, or of the queue if the
     * filter names one, or among the first {@code maxRead} dead runs of the project. The limit of the filter does not
     * apply.
     */
    Count count(String project, RunFilter filter, long maxRead);

    /**
     * Begins a bulk action on the runs that exist now, unfinished ones or, if {@code dead} is set, dead ones. Changes
     * nothing.
     */
    BulkCursor beginBulk(String project, boolean dead);

    /**
     * Applies the action to at most the next thousand runs that match. A cursor that is passed on from one call to the
     * next visits each run once, so that an action ends although other callers change the same runs.
     */
    BulkChunk bulk(String project, RunFilter filter, BulkAction action, BulkCursor cursor);

    /** Waits until a run that blocks this bulk action is no longer locked, at most two seconds. */
    void awaitUnlocked(String project, RunFilter filter, BulkAction action, BulkCursor cursor);

    /** Explains why a run is in its current state. */
    Optional<Explanation> explain(String project, RunId run);

    /** Returns the earlier attempts of a run that did not end it. */
    List<AttemptRecord> attempts(String project, RunId run);

    /** Returns recorded steps of a run, from a position on, without large values. */
    List<RecordedStep> steps(String project, RunId run, int from, int limit);

    /** Returns a recorded step of a run with its value; empty if nothing is recorded at the position. */
    Optional<RecordedStep> step(String project, RunId run, int position);

    /** Returns the number of runs that are parked because no live node has their handler, by handler. */
    Map<String, Long> unknownHandlers();
}
