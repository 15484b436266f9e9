package io.carillon.run;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A query for one page of runs, newest first.
 *
 * @param schedule only runs of this schedule; null for all
 * @param before only runs older than this run; null for the first page
 */
public record RunQuery(
        RunFilter filter, @Nullable UUID schedule, @Nullable RunId before) {
    /** Returns a query for the first page. */
    public static RunQuery of(RunFilter filter) {
        return new RunQuery(filter, null, null);
    }

    /** Returns a copy that matches only runs of one schedule. */
    public RunQuery schedule(UUID schedule) {
        return new RunQuery(filter, schedule, before);
    }

    /** Returns a query for the page that follows this run. */
    public RunQuery before(RunId last) {
        return new RunQuery(filter, schedule, last);
    }
}
