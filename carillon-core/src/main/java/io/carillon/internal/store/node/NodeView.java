package io.carillon.internal.store.node;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A registered node with its heartbeat. {@code deadAt} and {@code deathReason} are null while it is alive. */
public record NodeView(
        NodeRegistration info,
        Instant startedAt,
        Instant lastHeartbeatAt,
        int busy,
        @Nullable Instant deadAt,
        @Nullable String deathReason) {
    public boolean alive() {
        return deadAt == null;
    }
}
