package io.carillon.store;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A node as users see it. */
public record NodeView(
        NodeInfo info,
        Instant startedAt,
        Instant beatAt,
        int busy,
        @Nullable Instant deadAt,
        @Nullable String deadWhy) {
    public boolean alive() {
        return deadAt == null;
    }
}
