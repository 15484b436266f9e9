package io.carillon.schedule;

/** What a backfill does about instants whose history has been dropped: whether they ran is no longer known. */
public enum DroppedHistory {
    /** The backfill is refused. */
    REFUSE,
    /** They run, perhaps a second time. */
    RUN
}
