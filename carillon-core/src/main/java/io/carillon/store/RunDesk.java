package io.carillon.store;

import io.carillon.run.Cancellation;
import io.carillon.run.Explanation;
import io.carillon.run.Redrive;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What people ask about runs and do to them by hand. Everything is inside one project. */
public interface RunDesk {
    /** The answer of a bulk action when only runs are left that other transactions keep locked: the caller asks again. */
    int LOCKED = -1;

    Optional<Run> get(String project, RunId run);

    /** The newest runs that match, living and ended. */
    List<Run> list(String project, RunFilter filter);

    /** Living and ended runs that match, newest id first, from behind the one the query names. */
    List<Run> page(String project, RunQuery query);

    /** Makes a waiting run due at another instant; false: there is none that could be moved. Ticks and what waits behind a gate keep their place. */
    boolean reschedule(String project, RunId run, Instant due);

    /** Cancels a waiting run at once, asks a running one to stop. */
    Cancellation cancel(String project, RunId run, String reason);

    /** Ends an attempt that is open for somebody outside: well, or with an error; false: nobody awaits that, or not any more. */
    boolean complete(String project, RunId run, int attempt, String digest, @Nullable String error);

    /** Gives dead runs another life; one answer each. */
    List<Redrive> redrive(String project, List<RunId> dead);

    /** The dead runs that match. */
    List<RunId> dead(String project, RunFilter filter);

    /** How many runs match, counted up to this many; the filter's own limit does not apply. */
    long count(String project, RunFilter filter, long atMost);

    /** Does it to the next thousand at most that match, and returns to how many; 0: there are no more; {@link #LOCKED}: all that are left stay locked. */
    default int bulk(String project, RunFilter filter, BulkDeed deed) {
        return bulk(project, filter, deed, null);
    }

    /** The same to those only that existed, or were dead already, at this instant of the database; null: to all. */
    int bulk(String project, RunFilter filter, BulkDeed deed, @Nullable Instant existing);

    /** Why it is where it is. */
    Optional<Explanation> explain(String project, RunId run);

    /** The earlier attempts of a run that did not end it. */
    List<AttemptRecord> attempts(String project, RunId run);

    /** Runs that wait because no living node has their handler, by its name. */
    Map<String, Long> strangers();
}
