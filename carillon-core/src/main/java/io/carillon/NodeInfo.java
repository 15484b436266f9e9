package io.carillon;

import java.time.Instant;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A node of the cluster.
 *
 * @param handlers the names of its handlers
 * @param slots how many runs it executes at a time
 * @param busy how many slots were in use at its last heartbeat
 * @param wakeup its wake-up mode
 * @param deadAt when it stopped or was declared dead; null while it is alive
 * @param deathReason null while it is alive
 */
public record NodeInfo(
        UUID id,
        String name,
        String host,
        long pid,
        String version,
        Set<String> handlers,
        int slots,
        int busy,
        String wakeup,
        Instant startedAt,
        Instant lastHeartbeatAt,
        @Nullable Instant deadAt,
        @Nullable String deathReason) {
    public NodeInfo {
        handlers = Set.copyOf(handlers);
    }

    /** Returns whether the node has neither stopped nor been declared dead. */
    public boolean alive() {
        return deadAt == null;
    }
}
