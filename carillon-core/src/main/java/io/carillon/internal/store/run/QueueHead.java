package io.carillon.internal.store.run;

import io.carillon.internal.run.Lane;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The first runs of the queue.
 *
 * @param lanes for each priority of each lane the earliest due run, and each of the next few future instants
 * @param seenUntil all runs that are ready before this instant were read
 * @param isolatedRunsWaiting whether isolated runs wait to be tried
 * @param gatesExist whether any run has a gate
 * @param limitedLanes all lanes with a limit, or with a breaker that is open or half-open; {@link LaneStore#claim}
 * claims from them
 * @param openBreakers the lanes whose breaker is open or half-open
 * @param weights the weights of lanes with a weight other than 1
 */
public record QueueHead(
        List<LaneDue> lanes,
        Instant now,
        Instant seenUntil,
        boolean isolatedRunsWaiting,
        boolean gatesExist,
        Set<Lane> limitedLanes,
        Set<Lane> openBreakers,
        Map<Lane, Integer> weights) {
    public QueueHead {
        lanes = List.copyOf(lanes);
        limitedLanes = Set.copyOf(limitedLanes);
        openBreakers = Set.copyOf(openBreakers);
        weights = Map.copyOf(weights);
    }

    /** Returns whether there may be due runs that were not read. */
    public boolean mayHideDueRuns() {
        return !seenUntil.isAfter(now);
    }
}
