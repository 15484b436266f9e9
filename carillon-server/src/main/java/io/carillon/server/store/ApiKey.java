package io.carillon.server.store;

import io.carillon.server.http.KeyLimits;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stored API key, without its secret.
 *
 * @param revokedAt null if the key was not revoked
 * @param usedAt the last use, accurate to a minute; null if the key was never used
 */
public record ApiKey(
        String project,
        String id,
        String name,
        List<String> scopes,
        boolean bootstrap,
        Creation creation,
        KeyLimits limits,
        @Nullable Instant revokedAt,
        @Nullable Instant usedAt) {
    /** When and by which actor a key or secret was created. */
    public record Creation(Instant at, String by) {}

    public ApiKey {
        scopes = List.copyOf(scopes);
    }
}
