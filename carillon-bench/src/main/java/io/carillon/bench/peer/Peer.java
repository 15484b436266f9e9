package io.carillon.bench.peer;

import io.carillon.bench.measure.Drained;
import io.carillon.bench.measure.Firing;
import io.carillon.bench.server.BenchDatabase;
import java.util.Optional;

/** Another scheduler on PostgreSQL. Each call gets an empty database of its own. */
public interface Peer {
    /** As on the command line. */
    String name();

    /** How it is set up, for the report. */
    String settings();

    /** About how many jobs a second it can drain here: a round is as long for each peer, not as large. */
    int expectedPerSecond();

    /** Stores due jobs that do nothing, then starts one node and waits until none is left. */
    Drained drain(BenchDatabase database, int jobs) throws Exception;

    /** Fires schedules at a rate; empty where it is not made for that rate. */
    Optional<Firing> firing(BenchDatabase database, double perSecond) throws Exception;
}
