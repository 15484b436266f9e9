package io.carillon.store;

import io.carillon.run.Lane;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the head of the queue looks like. {@code lanes}: the earliest run that is due of each class of each lane, and each instant of the next few to come;
 * {@code seenUntil}: lanes may have runs that were not seen, but none that are
 * ready before this instant; {@code suspects}: runs wait to be tried alone; {@code gated}: some run has a gate;
 * {@code limited}: all lanes with a limit or a breaker that is not closed, which are claimed from in their own way; {@code broken}: the latter of them;
 * {@code weights}: of the lanes that do not weigh one.
 */
public record Look(
        List<LaneDue> lanes,
        Instant now,
        Instant seenUntil,
        boolean suspects,
        boolean gated,
        Set<Lane> limited,
        Set<Lane> broken,
        Map<Lane, Integer> weights) {
    public Look {
        lanes = List.copyOf(lanes);
        limited = Set.copyOf(limited);
        broken = Set.copyOf(broken);
        weights = Map.copyOf(weights);
    }

    /** Whether lanes may have due runs that were not seen. */
    public boolean full() {
        return !seenUntil.isAfter(now);
    }
}
