package io.carillon.webhook;

import io.carillon.spi.Secret;
import java.util.List;

/**
 * Provides secrets to deliveries. It is called for every attempt, so a rotation takes effect immediately.
 * Must be thread-safe.
 */
@FunctionalInterface
public interface SecretSource {
    /**
     * Returns the values of a secret, newest first: two while it is being rotated, none if the project has
     * no such secret.
     */
    List<Secret> find(String project, String name);

    /** Returns a source without secrets, for webhooks that are not signed and have no secret header. */
    static SecretSource none() {
        return (project, name) -> List.of();
    }
}
