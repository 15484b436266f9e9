package io.carillon.testkit;

import java.time.Instant;

/**
 * One thing that happened to a run: written down by triggers on the tables (leased, let go, ended), or by a handler itself (started). {@code node} is who
 * held it; {@code detail} the state it ended in.
 */
public record RunEvent(String run, int attempt, String node, Kind kind, Instant at, String detail) {
    /** What happened. */
    public enum Kind {
        LEASED,
        STARTED,
        LET_GO,
        ENDED
    }
}
