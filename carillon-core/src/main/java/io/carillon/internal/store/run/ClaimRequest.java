package io.carillon.internal.store.run;

import io.carillon.internal.run.Lane;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A claim of a node.
 *
 * @param owner the node
 * @param laneClaims the lanes to claim from
 * @param unknownHandlers handlers that other nodes have and this one does not
 * @param lease how long each run is leased; null if the node's heartbeat keeps the lease
 * @param claimNumber the node's number of this claim; the store keeps the claim record under it
 * @param run the only run to claim, of the only lane of this claim; null for the first due runs of the lanes
 */
public record ClaimRequest(
        UUID owner,
        List<LaneClaim> laneClaims,
        Set<String> unknownHandlers,
        @Nullable Duration lease,
        long claimNumber,
        @Nullable RunId run) {
    public ClaimRequest {
        laneClaims = List.copyOf(laneClaims);
        unknownHandlers = Set.copyOf(unknownHandlers);
    }

    /** Creates a claim of the first due runs of the lanes. */
    public ClaimRequest(
            UUID owner,
            List<LaneClaim> laneClaims,
            Set<String> unknownHandlers,
            @Nullable Duration lease,
            long claimNumber) {
        this(owner, laneClaims, unknownHandlers, lease, claimNumber, null);
    }

    /** Returns a claim of this run only, for a caller without a heartbeat. */
    public static ClaimRequest ofRun(UUID owner, Lane lane, Priority priority, RunId run, Duration lease) {
        return new ClaimRequest(owner, List.of(new LaneClaim(lane, priority, 1, Instant.MIN)), Set.of(), lease, 0, run);
    }

    /**
     * Returns a claim for a caller without a heartbeat: each run is leased for this time, and the store keeps
     * no claim record.
     */
    public static ClaimRequest leased(
            UUID owner, List<LaneClaim> laneClaims, Set<String> unknownHandlers, Duration lease) {
        return new ClaimRequest(owner, laneClaims, unknownHandlers, lease, 0);
    }

    /** Returns this claim for the given laneClaims only. */
    public ClaimRequest withLaneClaims(List<LaneClaim> laneClaims) {
        return new ClaimRequest(owner, laneClaims, unknownHandlers, lease, claimNumber, run);
    }

    /**
     * At most {@code count} runs of one priority of one lane, none ready before {@code readyFrom}; of the given
     * handlers or, if there are none, of all except the unknown handlers of the claim.
     */
    public record LaneClaim(Lane lane, Priority priority, int count, Instant readyFrom, Set<String> handlers) {
        public LaneClaim {
            handlers = Set.copyOf(handlers);
        }

        public LaneClaim(Lane lane, Priority priority, int count, Instant readyFrom) {
            this(lane, priority, count, readyFrom, Set.of());
        }

        public LaneClaim withHandlers(Set<String> handlers) {
            return new LaneClaim(lane, priority, count, readyFrom, handlers);
        }
    }
}
