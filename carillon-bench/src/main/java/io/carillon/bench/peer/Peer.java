package io.carillon.bench.peer;

import io.carillon.bench.measure.DrainResult;
import io.carillon.bench.measure.FiringScheduler;
import io.carillon.bench.server.BenchDatabase;
import java.util.Optional;

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

    /** Returns a scheduler that fires at this rate; empty if the peer does not support the rate. */
    Optional<FiringScheduler> firing(BenchDatabase database, double perSecond) throws Exception;
}
