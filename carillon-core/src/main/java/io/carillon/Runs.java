package io.carillon;

import io.carillon.internal.api.RunFactory;
import io.carillon.internal.api.StoredResults;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.run.AttemptRecord;
import io.carillon.run.CallbackToken;
import io.carillon.run.CancelResult;
import io.carillon.run.Enqueue;
import io.carillon.run.Explanation;
import io.carillon.run.Payload;
import io.carillon.run.RedriveResult;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.spi.PayloadCodec;
import io.carillon.workflow.RecordedStep;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The runs of a project: read, cancel, reschedule, complete and redrive them. */
public final class Runs {
    private static final int MAX_STEPS_PAGE = 1_000;

    private final RunAdmin admin;
    private final String project;
    private final Runnable wakeNodes;
    private final PayloadCodec codec;

    Runs(RunAdmin admin, String project, Runnable wakeNodes, PayloadCodec codec) {
        this.admin = admin;
        this.project = project;
        this.wakeNodes = wakeNodes;
        this.codec = codec;
    }

    /** Returns a run, waiting, running or ended; empty if it does not exist or retention has removed it. */
    public Optional<Run> get(RunId run) {
        return admin.get(project, run);
    }

    /** Returns those of these runs that exist, in no particular order. */
    public List<Run> get(Collection<RunId> runs) {
        return admin.get(project, runs);
    }

    /**
     * Returns up to 1,000 workflows that were started as children of this one, the oldest first. Those that retention
     * has removed are not among them.
     *
     * @see io.carillon.workflow.Start#childOf
     */
    public List<Run> children(RunId parent) {
        return admin.children(project, parent);
    }

    /**
     * Returns the result of a succeeded run, decoded as this type. Empty if the run does not exist, has not succeeded,
     * or has no result.
     *
     * @throws CarillonException with {@link ErrorCode#PAYLOAD_UNREADABLE} if the stored result does not match the type
     *     or was written by another codec
     */
    public <R> Optional<R> result(RunId run, Class<R> type) {
        return get(run).flatMap(found -> StoredResults.decode(found, codec, type));
    }

    /** Returns waiting and running runs, then ended runs, each group newest first. */
    public List<Run> list(RunFilter filter) {
        return admin.list(project, filter);
    }

    /**
     * Returns one page of runs, newest first. While runs are added, no run appears on two pages and no existing
     * run is omitted.
     */
    public List<Run> page(RunQuery query) {
        return admin.page(project, query);
    }

    /**
     * Like {@link #page}, but also returns where the next page begins. With filters, it reads at most 50,000 waiting
     * and running runs and 50,000 ended runs, and of those that match otherwise 1,000 of each for a text in an error or
     * a payload. So a page may be short, and even empty, although it is not the last one.
     */
    public RunQuery.Page search(RunQuery query) {
        return admin.search(project, query);
    }

    /** Returns the earlier attempts that did not end the run, at most the last 200, in their order. */
    public List<AttemptRecord> attempts(RunId run) {
        return admin.attempts(project, run);
    }

    /**
     * Returns the first 1,000 recorded steps and sleeps of a workflow, in the order of their positions. Empty if the
     * run is no workflow, or has recorded nothing. The steps of an ended run are kept as long as its history.
     */
    public List<RecordedStep> steps(RunId run) {
        return steps(run, 0, MAX_STEPS_PAGE);
    }

    /**
     * Returns at most {@code limit} recorded steps and sleeps from a position on. Values that are longer than
     * {@link RecordedStep#MAX_SHOWN_BYTES} are left out; {@link #step} returns them.
     *
     * @param from the position of the first one, from 0
     * @param limit between 1 and 1,000
     */
    public List<RecordedStep> steps(RunId run, int from, int limit) {
        requirePosition(from);
        if (limit < 1 || limit > MAX_STEPS_PAGE)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "limit must be between 1 and %d (was %d).".formatted(MAX_STEPS_PAGE, limit));
        return admin.steps(project, run, from, limit);
    }

    /** Returns the recorded step or sleep at a position, with its value; empty if nothing is recorded there. */
    public Optional<RecordedStep> step(RunId run, int position) {
        requirePosition(position);
        return admin.step(project, run, position);
    }

    private static void requirePosition(int position) {
        if (position < 0)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "A position must not be negative (was %d).".formatted(position));
    }

    /** Cancels a run. A waiting run ends immediately; a running attempt is asked to stop, on any node. */
    public CancelResult cancel(RunId run) {
        return cancel(run, "cancelled by the application");
    }

    /** Like {@link #cancel(RunId)}, but with a reason that is kept in the history of the run. */
    public CancelResult cancel(RunId run, String reason) {
        return admin.cancel(project, run, reason);
    }

    /**
     * Changes the due time of a waiting run. Returns false if the run is not waiting, is a tick, or waits for a gate.
     */
    public boolean reschedule(RunId run, Instant due) {
        boolean moved =
                admin.reschedule(project, run, ((Enqueue.Due.At) Enqueue.at(due).due()).instant());
        wakeNodes.run();
        return moved;
    }

    /**
     * Completes an attempt that awaits a callback ({@link io.carillon.run.Outcome#awaitingCallback}).
     *
     * @return false if the token is not valid for this attempt, the callback timeout has passed, or the attempt was
     *     already completed; then nothing changes
     */
    public boolean complete(RunId run, int attempt, String callbackToken) {
        boolean recorded = admin.complete(project, run, attempt, CallbackToken.digest(callbackToken), null);
        wakeNodes.run();
        return recorded;
    }

    /** Like {@link #complete}, but records a failure. The run is retried while its retry settings allow it. */
    public boolean fail(RunId run, int attempt, String callbackToken, String error) {
        boolean recorded = admin.complete(project, run, attempt, CallbackToken.digest(callbackToken), error);
        wakeNodes.run();
        return recorded;
    }

    /** Creates a new run from a dead run and links the two. */
    public RedriveResult redrive(RunId run) {
        return redriveWith(run, null, false);
    }

    /**
     * Like {@link #redrive(RunId)}, but a workflow continues where it failed: the new run has the records of the dead
     * one, except that of the step which failed. If steps were undone, it begins with its first step.
     */
    public RedriveResult retry(RunId workflow) {
        return redriveWith(workflow, null, true);
    }

    /**
     * Like {@link #redrive(RunId)}, but the new run gets this payload, encoded by the codec of this process. A dead run
     * whose payload is the cause of its failures can so be corrected.
     */
    public RedriveResult redrive(RunId run, Object payload) {
        Payload edited =
                payload instanceof Payload encoded ? encoded : new Payload(codec.encode(payload), codec.name());
        return redriveWith(run, RunFactory.requireWithinLimit(run.toString(), edited), false);
    }

    private RedriveResult redriveWith(RunId run, @Nullable Payload edited, boolean keepSteps) {
        RedriveResult answer = admin.redrive(project, run, edited, keepSteps);
        wakeNodes.run();
        return answer;
    }

    /**
     * Returns the encoded payload of a waiting, running or dead run. Empty if the run does not exist, or has ended and
     * its handler does not keep payloads in the history.
     */
    public Optional<Payload> payload(RunId run) {
        return admin.payload(project, run);
    }

    /** Redrives all dead runs that match the filter, up to its limit, oldest first. Returns one result per run. */
    public List<RedriveResult> redrive(RunFilter filter) {
        List<RedriveResult> answers = admin.redrive(project, admin.dead(project, filter));
        wakeNodes.run();
        return answers;
    }

    /**
     * Returns bulk actions for all runs that match the filter: count, cancel, reschedule, redrive or delete them. The
     * filter must name a state; its limit does not apply.
     */
    public BulkActions bulk(RunFilter filter) {
        return new BulkActions(admin, project, filter, wakeNodes, done -> true);
    }

    /** Explains the current state of a run; empty if the run does not exist. */
    public Optional<Explanation> explain(RunId run) {
        return admin.explain(project, run);
    }
}
