package io.carillon.run;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One page of a list of runs: what they are, of which schedule, and behind which id the page begins; newest first. */
public record RunQuery(
        RunFilter filter, @Nullable UUID schedule, @Nullable RunId before) {
    /** The first page. */
    public static RunQuery of(RunFilter filter) {
        return new RunQuery(filter, null, null);
    }

    /** Only runs of one schedule. */
    public RunQuery schedule(UUID schedule) {
        return new RunQuery(filter, schedule, before);
    }

    /** The page behind this run. */
    public RunQuery before(RunId last) {
        return new RunQuery(filter, schedule, last);
    }
}
