package io.carillon.internal.store.run;

import io.carillon.QueueLimits;
import io.carillon.internal.run.Lane;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The lanes: which of them have work, their settings, and claims from lanes with a limit or an open breaker. */
public interface LaneStore {
    /**
     * Reads the lanes of the first ready runs from {@code from} on, with their earliest instants. Cheap; called often.
     */
    QueueHead readQueueHead(Instant from);

    /**
     * Returns every lane with a claimable run, by skipping from lane to lane. Called rarely, and only under backlog.
     */
    default List<LaneDue> scan() {
        List<LaneDue> all = new ArrayList<>();
        LaneDue from = null;
        do {
            ScanPart scanPart = scan(from, 10_000);
            all.addAll(scanPart.found());
            from = scanPart.next();
        } while (from != null);
        return all;
    }

    /** Reads a part of a scan: the given number of steps after {@code after}, or from the beginning if it is null. */
    ScanPart scan(@Nullable LaneDue after, int steps);

    /** The result of a part of a scan. {@code next} is where the next part begins, or null after the last part. */
    record ScanPart(List<LaneDue> found, @Nullable LaneDue next) {}

    /**
     * Claims from lanes with a limit, at most as many runs as the limit allows. One node at a time claims from each
     * lane. Lanes without a limit return nothing.
     */
    ClaimResult claim(ClaimRequest request);

    /**
     * Reports how the recent attempts of a node ended, in lanes that have a breaker. Opens and closes breakers by the
     * reports of all nodes, and returns the changes.
     */
    List<BreakerChange> reportOutcomes(UUID node, List<LaneOutcomes> outcomes);

    /** Limits a lane. Runs that are already running count. */
    void limit(Lane lane, QueueLimits queueLimits);

    /** Sets the weight of a lane: how many runs it gets for each run of a lane with weight 1. */
    void setWeight(Lane lane, int weight);

    /** Sets whether a lane has a breaker. A breaker that is removed is closed first. */
    void setBreaker(Lane lane, boolean enabled);

    /** Stops claims from a lane immediately. Returns false if it was already paused. */
    boolean pause(Lane lane, String by, @Nullable String reason);

    /** Ends a pause and closes the breaker. Returns false if the lane was not paused and its breaker was closed. */
    boolean resume(Lane lane);

    /**
     * Returns the lanes of a project that have runs or settings, in the order of their queues, at most 1,000. At most
     * 10,000 runs of all lanes are counted.
     */
    List<LaneInfo> list(String project);

    /** Returns a lane; empty if it has neither runs nor settings. At most 10,000 runs are counted. */
    Optional<LaneInfo> find(Lane lane);
}
