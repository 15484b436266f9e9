package io.carillon.testkit;

/** A violation of an invariant in a history. */
public record Violation(Invariant invariant, String text) {
    /** The invariants. */
    public enum Invariant {
        /** The leases of a run do not overlap, and their attempt numbers increase by one. */
        SINGLE_LEASE,
        /** A run ends once, under its latest lease, and no event follows. */
        SINGLE_END,
        /** A handler starts only under its own lease, and no run succeeds without a start. */
        START_UNDER_LEASE,
        /** A handler starts only once per lease, and no run is taken from a live node. */
        NO_DUPLICATE_START,
        /** At most the allowed number of runs are leased at the same time. */
        LIMIT,
        /** In an ordered sequence, no run is leased before the previous one has ended. */
        ORDER,
        /** No two waiting or running runs have the same unique key. */
        UNIQUE_KEY,
        /** A failed run is retried at the planned time, and not more often than allowed. */
        RETRY,
        /** In the final state, no lost node holds a run. */
        NO_LEASE_OF_LOST_NODE,
        /** In the final state, all runs have ended, except those that may wait. */
        ALL_ENDED,
        /** The runs of a lost node are leased again in time, and other nodes start new runs in time. */
        FAILOVER_IN_TIME,
        /**
         * In the final state, all nodes send heartbeats and receive notifications, and no additional sessions exist.
         */
        NODES_HEALTHY
    }
}
