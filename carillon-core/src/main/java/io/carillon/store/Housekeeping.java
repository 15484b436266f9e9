package io.carillon.store;

import java.time.Duration;

/** What must be done now and then so that tables stay small. Every step is idempotent and needs no leader. */
public interface Housekeeping {
    /** Creates the history partitions of today and the days ahead; returns how many were missing. */
    int keepPartitions(int daysAhead);

    /** Keeps the table of runs from looking so small that statements are planned for an empty one; true: it did. */
    boolean keepRoom();

    /** How much of the table of runs is in use. */
    Dust dust();

    /** Makes the room of ended runs usable again; where somebody is at it already, or may not, nothing happens. */
    void sweepRuns();

    /** Drops history partitions that are older than the retention; returns how many. */
    int dropHistory(Duration retention);

    /** Removes dead runs, nodes, expired holds and leftovers whose time is over; returns how many rows. */
    int purge(Duration deadRuns, Duration deadNodes);
}
