package io.carillon.testkit;

/** Something in a history that must not be, and which invariant it breaks. */
public record Complaint(Invariant invariant, String text) {
    /** What must always hold. */
    public enum Invariant {
        /** Leases of a run do not overlap, and their numbers go up by one. */
        ONE_LEASE,
        /** A run ends once, by its latest lease, and nothing happens to it afterwards. */
        ONE_END,
        /** Handlers start under the lease they name, and nothing succeeds without having been started. */
        STARTS_LEASED,
        /** Nothing starts twice under one lease, and no run is taken from a node that lives. */
        NO_NEEDLESS_START,
        /** No more of a limit's runs are leased at a time than it says. */
        LIMIT,
        /** Of an order no run is leased before the one before it has ended. */
        ORDER,
        /** No two living runs have the same uniqueness key. */
        UNIQUE_KEY,
        /** Runs that failed start again when they were told to, not more often than allowed. */
        RETRY,
        /** When all is quiet, nothing is held by a node that is gone. */
        NO_DEAD_HOLDER,
        /** When all is quiet, everything has ended but what may wait. */
        ALL_ENDED,
        /** What a lost node held is leased again in time, and others start new runs in time. */
        TAKEN_OVER,
        /** When all is quiet, every node beats and listens, and there are no more sessions than before. */
        NODES_WELL
    }
}
