package io.carillon.it.store;

import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Checks that a ledger covers each expected instant exactly once, by its own entry or inside one range entry, and no
 * others.
 */
final class LedgerCoverage {
    /**
     * The instants of {@code when} after the first instant (exclusive) and until the last (inclusive), all expected in
     * the ledger.
     */
    record Span(Instant after, Instant until, When when) {}

    private LedgerCoverage() {}

    static List<Instant> instants(Span span) {
        List<Instant> instants = new ArrayList<>();
        Optional<Instant> at = span.when.nextIncludingExcluded(span.after);
        while (at.isPresent() && !at.get().isAfter(span.until)) {
            instants.add(at.get());
            at = span.when.nextIncludingExcluded(at.get());
        }
        return instants;
    }

    /** Returns descriptions of the violations found; empty if there are none. */
    static List<String> violations(List<LedgerEntry> ledger, List<Span> promised) {
        List<String> faults = new ArrayList<>();
        List<Instant> instants = new ArrayList<>();
        for (Span span : promised) instants.addAll(instants(span));
        for (Instant instant : instants) {
            List<LedgerEntry> covering = ledger.stream()
                    .filter(entry ->
                            !entry.from().isAfter(instant) && !entry.to().isBefore(instant))
                    .toList();
            if (covering.size() != 1) faults.add(instant + " is covered " + covering.size() + " times: " + covering);
        }
        for (LedgerEntry entry : ledger) {
            long inside = instants.stream()
                    .filter(instant ->
                            !entry.from().isAfter(instant) && !entry.to().isBefore(instant))
                    .count();
            if (inside != entry.count()) faults.add(entry + " contains " + inside + " expected instants");
        }
        return faults.subList(0, Math.min(faults.size(), 12));
    }
}
