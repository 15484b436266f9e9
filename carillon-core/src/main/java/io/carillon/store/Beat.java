package io.carillon.store;

import io.carillon.run.RunId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * The answer to a heartbeat: whether this node still lives, whether there is something to sweep, the others' beats, and which of its runs were cancelled.
 * {@code outdated}: a newer version has changed the tables so that this one may no longer work on them.
 */
public record Beat(
        boolean alive,
        Instant now,
        boolean sweepDue,
        boolean outdated,
        Map<UUID, Long> peers,
        List<CancelOrder> cancels) {
    public Beat {
        peers = Map.copyOf(peers);
        cancels = List.copyOf(cancels);
    }

    /** A running run that shall stop. */
    public record CancelOrder(String project, RunId run, String reason) {}
}
