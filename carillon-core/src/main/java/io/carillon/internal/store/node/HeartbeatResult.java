package io.carillon.internal.store.node;

import io.carillon.run.RunId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The answer to a heartbeat.
 *
 * @param alive false if this node was declared dead
 * @param rescueDue whether dead nodes have runs to release
 * @param outdated whether a newer version has changed the schema so that this version may no longer use it
 * @param peers the heartbeat counters of the other nodes
 * @param cancelRequests the runs of this node that were cancelled
 */
public record HeartbeatResult(
        boolean alive,
        Instant now,
        boolean rescueDue,
        boolean outdated,
        Map<UUID, Long> peers,
        List<CancelRequest> cancelRequests) {
    public HeartbeatResult {
        peers = Map.copyOf(peers);
        cancelRequests = List.copyOf(cancelRequests);
    }

    /** A running run that must stop. */
    public record CancelRequest(String project, RunId run, String reason) {}
}
