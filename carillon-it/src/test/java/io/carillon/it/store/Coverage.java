package io.carillon.it.store;

import io.carillon.schedule.When;
import io.carillon.store.LedgerEntry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks a ledger against the instants there must be: each of them once, as an entry of its own or inside one stretch, and no others. */
final class Coverage {
    /** From when (not included) until when (included) these instants were promised. */
    record Span(Instant after, Instant until, When when) {}

    private Coverage() {}

    static List<Instant> instants(Span span) {
        List<Instant> instants = new ArrayList<>();
        Optional<Instant> at = span.when.nextAny(span.after);
        while (at.isPresent() && !at.get().isAfter(span.until)) {
            instants.add(at.get());
            at = span.when.nextAny(at.get());
        }
        return instants;
    }

    /** The first of what is wrong, in words; empty: nothing. */
    static List<String> faults(List<LedgerEntry> ledger, List<Span> promised) {
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
            if (inside != entry.count()) faults.add("there are " + inside + " instants in " + entry);
        }
        return faults.subList(0, Math.min(faults.size(), 12));
    }
}
