package io.carillon.testkit;

import java.time.Instant;

/**
 * One thing that happened to a run: written down by triggers on the tables (born, leased, let go, ended), or by a handler itself (started). {@code node} is who
 * held it. {@code detail}: the uniqueness key it was born with; why it was let go ({@code failed}, with the instant it may start again, {@code crashed}, or
 * nothing); the state it ended in.
 */
public record RunEvent(String run, int attempt, String node, Kind kind, Instant at, String detail) {
    /** What happened. */
    public enum Kind {
        BORN,
        LEASED,
        STARTED,
        LET_GO,
        ENDED
    }
}
