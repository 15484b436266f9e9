package io.carillon.bench.peer;

import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.FiringScheduler;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.server.BenchDatabase;
import java.util.Optional;
import java.util.OptionalDouble;

/** Another scheduler on PostgreSQL. Each call gets a new, empty database. */
public interface Peer {
    /** Returns the name on the command line. */
    String name();

    /** Returns the settings, for the report. */
    String settings();

    /**
     * Returns the approximate number of jobs per second that it can drain. It makes the rounds of all
     * peers equally long.
     */
    int expectedPerSecond();

    /** Stores due jobs that do nothing, starts one node and waits until all jobs have ended. */
    DrainResult drain(BenchDatabase database, int jobs) throws Exception;

    /** Stores jobs in batches and returns the jobs per second; empty if this is not measured. */
    default OptionalDouble bulkPerSecond(BenchDatabase database, int jobs) throws Exception {
        return OptionalDouble.empty();
    }

    /** Stores jobs one by one on several threads and returns the jobs per second; empty if this is not measured. */
    default OptionalDouble singlePerSecond(BenchDatabase database, int jobs, int threads) throws Exception {
        return OptionalDouble.empty();
    }

    /**
     * Returns the times from the return of an enqueue in another process to the start of the job on an idle node; empty
     * if the peer finds jobs only by polling.
     */
    default Optional<Samples> pickupMillis(BenchDatabase database, int jobs) throws Exception {
        return Optional.empty();
    }

    /** Returns a scheduler that fires at this rate; empty if the peer does not support the rate. */
    Optional<FiringScheduler> firing(BenchDatabase database, double perSecond) throws Exception;
}
