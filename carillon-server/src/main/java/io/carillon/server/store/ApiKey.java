package io.carillon.server.store;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A key as it is kept: everything but its secret. */
public record ApiKey(
        String project,
        String id,
        String name,
        List<String> scopes,
        boolean bootstrap,
        Made made,
        @Nullable Instant expiresAt,
        @Nullable Instant revokedAt,
        @Nullable Instant usedAt) {
    /** When, and by whom. */
    public record Made(Instant at, String by) {}

    public ApiKey {
        scopes = List.copyOf(scopes);
    }
}
