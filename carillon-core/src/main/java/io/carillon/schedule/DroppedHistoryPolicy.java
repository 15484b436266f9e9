package io.carillon.schedule;

/**
 * What a backfill does with instants whose history was removed by retention, so that it is unknown whether they ran.
 */
public enum DroppedHistoryPolicy {
    /** The backfill is rejected. */
    REFUSE,
    /** A run is created for each of these instants, which may be its second run. */
    RUN
}
