package io.carillon.internal.store.stats;

import io.carillon.Stats.RunStats;
import java.time.Duration;
import java.util.List;

/** The statistics per minute and per hour. */
public interface StatsStore {
    /**
     * Writes counts. Repeated, it changes nothing; an older row that is written after a newer one of the same key
     * changes nothing either.
     */
    void write(List<StatsRow> rows);

    /**
     * Computes the hours that have ended and are missing or may have changed, from their minutes. Does nothing while
     * another node does it. Returns how many hours it wrote.
     */
    int computeHours();

    /** Removes minutes and hours that are older than these. Returns how many rows it removed. */
    int removeOlder(Duration minutes, Duration hours);

    /** Returns the statistics of a project. */
    RunStats read(String project, RunStats.Query query);

    /** Returns the figures of all projects in the last period of this length. */
    RunStats.Figures recent(Duration period);
}
