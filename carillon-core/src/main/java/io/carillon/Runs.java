package io.carillon;

import io.carillon.run.Cancellation;
import io.carillon.run.CompletionToken;
import io.carillon.run.Enqueue;
import io.carillon.run.Explanation;
import io.carillon.run.Redrive;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.store.AttemptRecord;
import io.carillon.store.RunDesk;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The runs of a project. */
public final class Runs {
    private final RunDesk desk;
    private final String project;
    private final Runnable woken;

    Runs(RunDesk desk, String project, Runnable woken) {
        this.desk = desk;
        this.project = project;
        this.woken = woken;
    }

    public Optional<Run> get(RunId run) {
        return desk.get(project, run);
    }

    /** Living runs, then ended ones, each newest first. */
    public List<Run> list(RunFilter filter) {
        return desk.list(project, filter);
    }

    /** One page of living and ended runs, newest first: no run stands on two pages, and none that was there is left out. */
    public List<Run> page(RunQuery query) {
        return desk.page(project, query);
    }

    /** Earlier attempts that did not end the run. */
    public List<AttemptRecord> attempts(RunId run) {
        return desk.attempts(project, run);
    }

    /** Cancels it: at once while it waits; a running one is told to stop, wherever it runs. */
    public Cancellation cancel(RunId run) {
        return cancel(run, "cancelled by the application");
    }

    /** The same with a reason, which its history keeps. */
    public Cancellation cancel(RunId run, String reason) {
        return desk.cancel(project, run, reason);
    }

    /** Makes a waiting run due at another instant. False: there is none that could be moved; ticks and what waits behind a gate keep their place. */
    public boolean reschedule(RunId run, Instant due) {
        boolean moved =
                desk.reschedule(project, run, ((Enqueue.Due.At) Enqueue.at(due).due()).instant());
        woken.run();
        return moved;
    }

    /**
     * Says from outside that an open attempt has done its work ({@link io.carillon.run.Outcome#awaiting}); false: the token is not its own, or it is too late, or it was said before. Then
     * nothing has changed.
     */
    public boolean complete(RunId run, int attempt, String token) {
        boolean recorded = desk.complete(project, run, attempt, CompletionToken.digest(token), null);
        woken.run();
        return recorded;
    }

    /** The same for one that failed: it is tried again while failures are allowed. */
    public boolean fail(RunId run, int attempt, String token, String error) {
        boolean recorded = desk.complete(project, run, attempt, CompletionToken.digest(token), error);
        woken.run();
        return recorded;
    }

    /** Gives a dead run another life as a new, linked run. */
    public Redrive redrive(RunId run) {
        Redrive answer = desk.redrive(project, List.of(run)).get(0);
        woken.run();
        return answer;
    }

    /** The same for all dead runs that match, oldest first; one answer each. */
    public List<Redrive> redrive(RunFilter filter) {
        List<Redrive> answers = desk.redrive(project, desk.dead(project, filter));
        woken.run();
        return answers;
    }

    /** All runs that match, to be counted, cancelled, rescheduled, redriven or deleted together. The filter names a state; its limit does not apply. */
    public Bulk bulk(RunFilter filter) {
        return new Bulk(desk, project, filter, woken, progress -> true);
    }

    /** Why it is where it is. */
    public Optional<Explanation> explain(RunId run) {
        return desk.explain(project, run);
    }
}
