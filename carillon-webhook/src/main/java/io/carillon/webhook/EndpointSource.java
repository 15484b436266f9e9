package io.carillon.webhook;

import java.util.Optional;

/**
 * Provides endpoints to deliveries. It is called for every attempt, so a change takes effect immediately. Must be
 * thread-safe.
 */
@FunctionalInterface
public interface EndpointSource {
    /** Returns the endpoint of a project with its secrets; empty if the project has no endpoint of this name. */
    Optional<Endpoint> find(String project, String name);

    /** Returns whether webhooks of this project may call a URL that is not an endpoint. Default: true. */
    default boolean allowsAdHocUrls(String project) {
        return true;
    }

    /** Returns a source without endpoints. */
    static EndpointSource none() {
        return (project, name) -> Optional.empty();
    }
}
