package io.carillon.internal.store.run;

import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * The position of a bulk action, which reads the runs of its project once, in the order of their ids. Ids are used
 * because no action changes them; they are not an order of time.
 *
 * @param after the id up to which all runs were read
 * @param last the largest id when the action began; the action ends there
 * @param existingAt when the action began: it changes only runs that existed, or were dead, at this instant of the
 *     database clock
 * @param locked runs that other transactions had locked when they were read; the action changes them last
 */
public record BulkCursor(UUID after, UUID last, Instant existingAt, List<UUID> locked) {
    /** The id before all others. */
    public static final UUID MIN_ID = new UUID(0, 0);

    public BulkCursor {
        locked = List.copyOf(locked);
    }

    /** Returns whether all runs were read; some may still be locked. */
    public boolean isAllRead() {
        return after.equals(last);
    }

    /** Returns whether no run is left. */
    public boolean isFinished() {
        return isAllRead() && locked.isEmpty();
    }
}
