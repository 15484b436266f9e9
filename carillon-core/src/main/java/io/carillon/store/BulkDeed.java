package io.carillon.store;

import java.time.Instant;

/** What is done to all runs that match. */
public sealed interface BulkDeed {
    /** Ends waiting runs, tells running ones to stop. */
    record Cancel(String reason) implements BulkDeed {}

    /** Makes waiting runs due at another instant. */
    record Reschedule(Instant due) implements BulkDeed {}

    /** Gives dead runs another life. */
    record Redrive() implements BulkDeed {}

    /** Removes dead runs for good. */
    record Delete() implements BulkDeed {}
}
