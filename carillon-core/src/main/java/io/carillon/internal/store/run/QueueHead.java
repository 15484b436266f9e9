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
 * @param waitsExist whether any run waits for another run, or a signal for its workflow
 * @param limitedLanes all lanes with a limit, or with a breaker that is open or half-open; {@link LaneStore#claim}
 * claims from them
 * @param weights the weights of lanes with a weight other than 1
 * @param breakers the breakers of all lanes
 */
public record QueueHead(
        List<LaneDue> lanes,
        Instant now,
        Instant seenUntil,
        boolean isolatedRunsWaiting,
        boolean gatesExist,
        boolean waitsExist,
        Set<Lane> limitedLanes,
        Map<Lane, Integer> weights,
        Breakers breakers) {
    public QueueHead {
        lanes = List.copyOf(lanes);
        limitedLanes = Set.copyOf(limitedLanes);
        weights = Map.copyOf(weights);
    }

    /**
     * The breakers of all lanes.
     *
     * @param open the lanes whose breaker is open or half-open
     * @param settings for each lane with a setting, whether it has a breaker
     */
    public record Breakers(Set<Lane> open, Map<Lane, Boolean> settings) {
        /** No lane has a setting, and no breaker is open. */
        public static final Breakers NONE = new Breakers(Set.of(), Map.of());

        public Breakers {
            open = Set.copyOf(open);
            settings = Map.copyOf(settings);
        }

        /** Returns whether the lane has a breaker, open or not. */
        public boolean exists(Lane lane) {
            return settings.getOrDefault(lane, lane.hasBreakerByDefault());
        }
    }

    /** Returns whether there may be due runs that were not read. */
    public boolean mayHideDueRuns() {
        return !seenUntil.isAfter(now);
    }
}
