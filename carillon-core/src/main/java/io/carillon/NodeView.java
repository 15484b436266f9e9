package io.carillon;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A node as users see it. {@code deadAt} and {@code deathReason} are null while it is alive. */
public record NodeView(
        NodeInfo info,
        Instant startedAt,
        Instant lastHeartbeatAt,
        int busy,
        @Nullable Instant deadAt,
        @Nullable String deathReason) {
    public boolean alive() {
        return deadAt == null;
    }
}
