package io.carillon.internal.store.run;

import java.time.Instant;

/** An action on all runs that match a filter. */
public sealed interface BulkAction {
    /** Ends waiting runs and asks running ones to stop. */
    record Cancel(String reason) implements BulkAction {}

    /** Makes waiting runs due at another instant. */
    record Reschedule(Instant due) implements BulkAction {}

    /** Starts dead runs again as new runs. */
    record Redrive() implements BulkAction {}

    /** Removes dead runs permanently. */
    record Delete() implements BulkAction {}
}
