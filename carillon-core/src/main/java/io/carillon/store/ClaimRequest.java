package io.carillon.store;

import io.carillon.run.Lane;
import io.carillon.run.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a node asks for: lanes with quotas, the target names it knows to be strangers, where no heartbeat keeps the lease, how long it shall hold, and the
 * node's own number of the claim, under which the store notes what was claimed.
 */
public record ClaimRequest(
        UUID owner,
        List<Quota> quotas,
        Set<String> strangers,
        @Nullable Duration lease,
        long note) {
    public ClaimRequest {
        quotas = List.copyOf(quotas);
        strangers = Set.copyOf(strangers);
    }

    /** A claim of a caller without a heartbeat: each run is leased for this long, and the store notes nothing. */
    public static ClaimRequest leased(UUID owner, List<Quota> quotas, Set<String> strangers, Duration lease) {
        return new ClaimRequest(owner, quotas, strangers, lease, 0);
    }

    /** The same claim of these lanes only. */
    public ClaimRequest of(List<Quota> some) {
        return new ClaimRequest(owner, some, strangers, lease, note);
    }

    /**
     * At most {@code count} runs of one class of one lane, looking no further back than {@code low}; of these handlers, or, where none are named, of all but
     * the strangers.
     */
    public record Quota(Lane lane, Priority priority, int count, Instant low, Set<String> handlers) {
        public Quota {
            handlers = Set.copyOf(handlers);
        }

        public Quota(Lane lane, Priority priority, int count, Instant low) {
            this(lane, priority, count, low, Set.of());
        }

        public Quota of(Set<String> handlers) {
            return new Quota(lane, priority, count, low, handlers);
        }
    }
}
