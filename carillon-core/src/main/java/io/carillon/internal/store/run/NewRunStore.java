package io.carillon.internal.store.run;

import io.carillon.internal.run.NewRun;
import io.carillon.run.EnqueueResult;
import java.sql.Connection;
import java.util.List;

/** The port for new runs. */
public interface NewRunStore {
    /**
     * Stores the runs in their own transaction, all or none. Returns one result per run, in order. The caller notifies
     * the nodes.
     */
    default List<EnqueueResult> enqueue(List<NewRun> runs) {
        return enqueue(runs, false);
    }

    /** Like {@link #enqueue(List)}; {@code notifyNodes} adds a notification, for callers without a node. */
    List<EnqueueResult> enqueue(List<NewRun> runs, boolean notifyNodes);

    /** Stores the runs in the caller's transaction, and adds a notification that its commit sends. */
    default List<EnqueueResult> enqueueIn(Connection caller, List<NewRun> runs) {
        return enqueueIn(caller, runs, true);
    }

    /** Like {@link #enqueueIn(Connection, List)}; {@code notifyNodes} says whether to add the notification. */
    List<EnqueueResult> enqueueIn(Connection caller, List<NewRun> runs, boolean notifyNodes);
}
