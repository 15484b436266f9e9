package io.carillon.internal.store.node;

import io.carillon.internal.store.run.IsolationRule;
import io.carillon.internal.store.run.OwnedRun;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** The nodes of the cluster. */
public interface NodeStore {
    /** Registers a new node id, and makes runs claimable that were parked because no node had their handler. */
    void register(NodeRegistration node);

    /**
     * Makes up to 5,000 runs per handler claimable that were parked because no node had it. For callers that execute
     * without being a node.
     */
    void wakeParkedRuns(Set<String> handlers);

    /** Records a heartbeat, and returns what the node must know each time. */
    HeartbeatResult recordHeartbeat(UUID node, int busy, List<ProgressUpdate> progress);

    /** Extends the leases of attempts that are executed without a node. Returns the runs with a lost lease. */
    List<OwnedRun> renewLeases(UUID owner, List<OwnedRun> held, Duration lease);

    /**
     * Declares a node dead if its heartbeat counter is still the given one. Returns false if the node is alive or was
     * already declared dead.
     */
    boolean declareDead(UUID node, long heartbeat, String why);

    /** Retires a node id. Its runs must have been released before. */
    void retire(UUID node);

    /**
     * Releases the runs of dead nodes, isolates those that {@link IsolationRule} selects, and quarantines those
     * that crashed too often. Also releases runs with an expired lease of their own. Ends released runs that have
     * a cancel request.
     */
    RescueResult rescue(int crashLimit);

    /** Returns the live nodes and those that died recently. */
    List<NodeView> list();
}
