package io.carillon.server.http;

import io.carillon.internal.value.Names;
import io.carillon.webhook.Webhooks;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a key, in addition to its scopes. They also hold for every key that it creates.
 *
 * @param expiresAt the end of the key or token; null if it does not expire
 * @param addresses the address ranges that the key may be used from; empty if it may be used from everywhere
 * @param queues the queues that it is restricted to: names, or prefixes such as {@code orders.*}; empty if to none
 * @param handlers the handlers that it is restricted to, in the same form
 * @param endpoints the endpoints that it is restricted to, in the same form. Their runs are visible in addition to
 *     those of {@code queues} and {@code handlers}
 */
public record KeyLimits(
        @Nullable Instant expiresAt,
        List<String> addresses,
        List<String> queues,
        List<String> handlers,
        List<String> endpoints) {
    public KeyLimits {
        addresses = List.copyOf(addresses);
        queues = List.copyOf(queues);
        handlers = List.copyOf(handlers);
        endpoints = List.copyOf(endpoints);
    }

    /** Returns limits that allow everything until an instant; null means without an end. */
    public static KeyLimits until(@Nullable Instant expiresAt) {
        return new KeyLimits(expiresAt, List.of(), List.of(), List.of(), List.of());
    }

    /** Returns a copy with another end. */
    public KeyLimits withExpiry(@Nullable Instant end) {
        return new KeyLimits(end, addresses, queues, handlers, endpoints);
    }

    /** Returns whether the key sees only a part of its project. */
    public boolean isRestricted() {
        return !queues.isEmpty() || !handlers.isEmpty() || !endpoints.isEmpty();
    }

    /** Returns the lists as one text, the same for all keys with the same lists. */
    public String restriction() {
        return queues + " " + handlers + " " + endpoints;
    }

    /** Returns whether the key may see and change runs of this queue and handler; null stands for all of them. */
    public boolean allows(@Nullable String queue, @Nullable String handler) {
        return !isRestricted()
                || isOfAllowedEndpoint(queue)
                || (hasRunLists() && isIn(queues, queue) && isIn(handlers, handler));
    }

    /**
     * Returns whether the key may see some runs of this queue and handler; null stands for any. A list that is filtered
     * by others must not show that there are such runs.
     */
    public boolean allowsSome(@Nullable String queue, @Nullable String handler) {
        boolean some =
                hasRunLists() && (queue == null || isIn(queues, queue)) && (handler == null || isIn(handlers, handler));
        boolean ofEndpoints = !endpoints.isEmpty()
                && (queue == null || isOfAllowedEndpoint(queue))
                && (handler == null || handler.equals(Webhooks.TYPE.name()));
        return !isRestricted() || some || ofEndpoints;
    }

    /** Returns whether the key may see, change and call the endpoint of this name. */
    public boolean allowsEndpoint(String name) {
        return !isRestricted() || matches(endpoints, name);
    }

    /** Throws a problem with status 403 if the key may not create or select runs of this queue and handler. */
    public void require(@Nullable String queue, @Nullable String handler) {
        if (!allows(queue, handler)) throw forbidden("Name them in the request, or use another key.");
    }

    /** Throws a problem with status 403 if the key may not create or call this endpoint; null is an ad-hoc URL. */
    public void requireEndpoint(@Nullable String name) {
        if (isRestricted() && (name == null || !allowsEndpoint(name)))
            throw forbidden("Name an endpoint that it may use, or use another key.");
    }

    /** Throws a problem with status 403 if the key is restricted; {@code why} says what it would concern. */
    public void requireWholeProject(String why) {
        if (isRestricted()) throw forbidden(why + " Use another key.");
    }

    /**
     * Throws a problem with status 403 if the key may not use a unique key that is unique among these runs. Otherwise
     * it could prevent runs that it does not see, or learn of them.
     *
     * @param queue null if the key is unique in all queues of the handler
     */
    public void requireUniqueKey(@Nullable String queue, String handler) {
        if (!allows(queue, handler))
            throw forbidden("A unique key is unique among all runs of its handler, also those that your key does not"
                    + " see. Leave the unique key out, or use another key.");
    }

    /**
     * Throws a problem with status 403 if the key may not search for a text in runs of this queue and handler; null
     * stands for all of them. The pages would show whether a run that it does not see contains the text.
     */
    public void requireSearch(@Nullable String queue, @Nullable String handler) {
        if (!allows(queue, handler))
            throw forbidden("A search for a text must be limited to them by the parameters queue and handler.");
    }

    /**
     * Throws a problem with status 403 if the key may not use a concurrency, FIFO or rate key. These belong to the
     * whole project; those of a restricted key begin with what it is restricted to, so that it does not delay other
     * runs.
     */
    public void requireLimitKey(@Nullable String queue, String handler, String limitKey) {
        if (!isRestricted()) return;
        boolean ofEndpoint = isOfAllowedEndpoint(queue);
        String prefix = (ofEndpoint || !queues.isEmpty() ? queue + ":" : "")
                + (ofEndpoint || handlers.isEmpty() ? "" : handler + ":");
        if (!limitKey.startsWith(prefix))
            throw forbidden(("Concurrency, FIFO and rate keys are shared by the whole project. With your key they must"
                            + " begin with \"%s\".")
                    .formatted(prefix));
    }

    private Problem forbidden(String advice) {
        List<String> lists = new ArrayList<>();
        if (hasRunLists()) lists.add("the queues %s and the handlers %s".formatted(shown(queues), shown(handlers)));
        if (!endpoints.isEmpty()) lists.add("the endpoints " + endpoints);
        return Problem.of(
                403, "forbidden", "Your key is restricted to %s. %s".formatted(String.join(", or ", lists), advice));
    }

    private boolean hasRunLists() {
        return !queues.isEmpty() || !handlers.isEmpty();
    }

    /** An endpoint has its own queue, which contains no other runs. */
    private boolean isOfAllowedEndpoint(@Nullable String queue) {
        return queue != null
                && queue.startsWith(Names.ENDPOINT_QUEUE_PREFIX)
                && matches(endpoints, queue.substring(Names.ENDPOINT_QUEUE_PREFIX.length()));
    }

    private static String shown(List<String> patterns) {
        return patterns.isEmpty() ? "(all)" : patterns.toString();
    }

    private static boolean isIn(List<String> patterns, @Nullable String name) {
        return patterns.isEmpty() || (name != null && matches(patterns, name));
    }

    private static boolean matches(List<String> patterns, String name) {
        return patterns.stream()
                .anyMatch(pattern -> pattern.endsWith("*")
                        ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                        : name.equals(pattern));
    }

    /**
     * The operations of restricted keys: those that check the restriction. All others
     * are refused, so that a new operation is closed to such keys until it checks it too.
     */
    static final class RestrictedRoutes {
        private static final Set<String> CHECKED = Set.of(
                "GET /v1/runs",
                "POST /v1/runs",
                "POST /v1/runs:batch",
                "GET /v1/runs/{id}",
                "GET /v1/runs/{id}/attempts",
                "GET /v1/runs/{id}/steps",
                "GET /v1/runs/{id}/steps/{position}",
                "GET /v1/runs/{id}/explain",
                "POST /v1/runs/{id}/signals",
                "POST /v1/runs/{id}/cancel",
                "POST /v1/runs/{id}/redrive",
                "POST /v1/runs/{id}/reschedule",
                "POST /v1/runs/{id}/replay",
                "GET /v1/schedules",
                "POST /v1/schedules:preview",
                "POST /v1/schedules:batch",
                "GET /v1/schedules/{name}",
                "PUT /v1/schedules/{name}",
                "DELETE /v1/schedules/{name}",
                "POST /v1/schedules/{name}/pause",
                "POST /v1/schedules/{name}/resume",
                "POST /v1/schedules/{name}/trigger",
                "POST /v1/schedules/{name}/backfill",
                "GET /v1/schedules/{name}/ledger",
                "GET /v1/queues",
                "GET /v1/queues/{name}",
                "PUT /v1/queues/{name}/limits",
                "PUT /v1/queues/{name}/weight",
                "PUT /v1/queues/{name}/breaker",
                "POST /v1/queues/{name}/pause",
                "POST /v1/queues/{name}/resume",
                "GET /v1/bulk-actions",
                "POST /v1/bulk-actions",
                "GET /v1/bulk-actions/{id}",
                "POST /v1/bulk-actions/{id}/abort",
                "GET /v1/endpoints",
                "POST /v1/endpoints",
                "GET /v1/endpoints/{name}",
                "PUT /v1/endpoints/{name}",
                "DELETE /v1/endpoints/{name}",
                "POST /v1/endpoints/{name}/rotate",
                "POST /v1/webhooks/test");

        private RestrictedRoutes() {}

        static boolean contains(Route route) {
            return CHECKED.contains(route.method() + " " + route.path());
        }
    }
}
