package io.carillon.internal.store.run;

/** The result of a write with a fence. */
public enum WriteResult {
    /** The result is recorded, by this write or by an earlier one whose answer was lost. */
    ACCEPTED,
    /** Another node owns or has ended the run. Nothing was written. */
    LEASE_LOST,
    /** Another transaction has locked the run. Nothing was written, and the write can be repeated. */
    LOCKED
}
