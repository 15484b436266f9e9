package io.carillon.store;

/** What became of a fenced write. */
public enum Verdict {
    /** It is recorded, by this write or by an earlier one whose answer was lost. */
    ACCEPTED,
    /** Another node holds or ended the run: nothing was written, and the loser is told. */
    LEASE_LOST,
    /** Another transaction has the run locked: nothing was written, and the write can be repeated. */
    LOCKED
}
