package io.carillon.testkit;

import java.time.Instant;

/**
 * An event of a run, recorded by triggers on the tables (created, leased, released, ended) or by a handler (started).
 *
 * @param node the node that held the run
 * @param detail the unique key of a created run; why a run was released: {@code failed} with the instant of the retry,
 *     {@code crashed}, or empty; the final state of an ended run
 */
public record HistoryEvent(String run, int attempt, String node, Kind kind, Instant at, String detail) {
    /** The kinds of events. */
    public enum Kind {
        CREATED,
        LEASED,
        STARTED,
        RELEASED,
        ENDED
    }
}
