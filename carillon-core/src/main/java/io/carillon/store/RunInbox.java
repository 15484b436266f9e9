package io.carillon.store;

import io.carillon.run.EnqueueResult;
import io.carillon.run.NewRun;
import java.sql.Connection;
import java.util.List;

/** Where new runs enter. */
public interface RunInbox {
    /** Stores the runs in a transaction of its own; one answer per run, in order. All or nothing. Whoever calls tells the nodes. */
    default List<EnqueueResult> enqueue(List<NewRun> runs) {
        return enqueue(runs, false);
    }

    /** The same; {@code tell}: a wake-up hint rides along, for callers that have no node of their own. */
    List<EnqueueResult> enqueue(List<NewRun> runs, boolean tell);

    /** The same in the caller's transaction, with a wake-up hint that rides along and is sent by its commit. */
    default List<EnqueueResult> enqueueIn(Connection caller, List<NewRun> runs) {
        return enqueueIn(caller, runs, true);
    }

    /** The same; {@code tell}: whether the hint rides along. */
    List<EnqueueResult> enqueueIn(Connection caller, List<NewRun> runs, boolean tell);
}
