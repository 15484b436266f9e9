package io.carillon.internal.store.schedule;

import java.time.Instant;

/**
 * The part of a ledger that is read: the entries between two instants, both inclusive.
 *
 * @param limit the maximum number of entries
 * @param latest whether the last entries are read if there are more; otherwise the first ones are
 */
public record LedgerRange(Instant from, Instant to, int limit, boolean latest) {
    private static final int MAX_ENTRIES = 10_000;

    /** Returns the range with the first 10,000 entries. */
    public static LedgerRange of(Instant from, Instant to) {
        return new LedgerRange(from, to, MAX_ENTRIES, false);
    }
}
