package io.carillon.run;

import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A query for one page of runs, newest first. Immutable; each method returns a changed copy. */
public final class RunQuery {
    private final RunFilter filter;
    private final @Nullable UUID schedule;
    private final @Nullable RunId before;

    private RunQuery(RunFilter filter, @Nullable UUID schedule, @Nullable RunId before) {
        this.filter = filter;
        this.schedule = schedule;
        this.before = before;
    }

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

    /** Returns the filter of the runs, whose limit is the size of a page. */
    public RunFilter filter() {
        return filter;
    }

    /** Returns the schedule of the runs; null for all. */
    public @Nullable UUID schedule() {
        return schedule;
    }

    /** Returns the run that all runs of the page are older than; null for the first page. */
    public @Nullable RunId before() {
        return before;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RunQuery that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return "RunQuery[filter=%s, schedule=%s, before=%s]".formatted(values().toArray());
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(filter, schedule, before);
    }
}
