package io.carillon.store;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** The register of nodes and the death of some. */
public interface NodeStore {
    /** Enters a fresh incarnation and wakes runs that were parked for want of its handlers. */
    void register(NodeInfo node);

    /** Wakes up to 5,000 runs a handler that were parked for want of it: for whoever executes without being a node. */
    void wake(Set<String> handlers);

    /** One heartbeat, with what a node needs to know each time. */
    Beat beat(UUID node, int busy, List<ProgressNote> progress);

    /** Extends the leases of attempts that are executed without a node; returns those that are no longer held. */
    List<HeldRun> renew(UUID owner, List<HeldRun> held, Duration lease);

    /** Declares a node dead if its beat is still the one that was watched; false: it lives, or somebody else did it. */
    boolean declareDead(UUID node, long beat, String why);

    /** Ends an incarnation in order; its runs must have been let go before. */
    void retire(UUID node);

    /**
     * Lets go the runs of dead nodes as suspects, quarantines those that crashed once too often; also runs whose own lease expired. Ends runs that were to be
     * cancelled and were let go instead.
     */
    Swept sweep(int crashLimit);

    /** The nodes that beat, and those that died lately. */
    List<NodeView> list();
}
