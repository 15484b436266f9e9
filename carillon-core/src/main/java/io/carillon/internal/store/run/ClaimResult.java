package io.carillon.internal.store.run;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The claimed attempts in the order of their ready times, and those times. {@code limitedUntil} contains the lanes with
 * a limit that is reached, and until when another claim there is useless unless a run of the lane ends.
 */
public record ClaimResult(List<Attempt> attempts, List<Instant> readyAt, Map<Lane, Instant> limitedUntil) {
    public ClaimResult {
        attempts = List.copyOf(attempts);
        readyAt = List.copyOf(readyAt);
        limitedUntil = Map.copyOf(limitedUntil);
    }
}
