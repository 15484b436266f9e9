package io.carillon.internal.store;

import java.time.Duration;

/** Regular steps that keep the tables small. Every step is idempotent and needs no leader. */
public interface MaintenanceStore {
    /** Creates the history partitions of today and the given number of days ahead. Returns how many were missing. */
    int ensurePartitions(int daysAhead);

    /**
     * Keeps the run table from becoming so small that PostgreSQL plans statements for an empty table. Returns whether
     * it did anything.
     */
    boolean reservePages();

    /** Returns the number of dead and live rows of the run table. */
    TableStats tableStats();

    /** Vacuums the run table. Does nothing if another vacuum runs or this user has no permission. */
    void vacuumRuns();

    /**
     * Lets queries for the latest endings skip the pages that were added to the history before. Covers the days up to
     * this number before today. Returns how many ranges of pages were added.
     */
    int summarizeHistory(int daysBefore);

    /** Drops history partitions that are older than the retention. Returns how many. */
    int dropHistory(Duration retention);

    /**
     * Drops partitions of events that are older than the retention, and their ticks. Events that a subscription has
     * still to deliver, or a relay still to send, are kept for at most twice the retention. Returns the number of
     * partitions.
     */
    int dropEvents(Duration retention);

    /** Removes dead runs, dead nodes, unique keys and leftovers that have expired. Returns the number of rows. */
    int purge(Duration deadRuns, Duration deadNodes);

    /**
     * Computes the statistics per hour, and removes those per minute and per hour that are older than these. Returns
     * how many rows were removed.
     */
    int maintainStats(Duration minutes, Duration hours);
}
