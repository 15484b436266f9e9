package io.carillon.server.http;

import java.time.Instant;
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
 */
public record KeyLimits(
        @Nullable Instant expiresAt, List<String> addresses, List<String> queues, List<String> handlers) {
    public KeyLimits {
        addresses = List.copyOf(addresses);
        queues = List.copyOf(queues);
        handlers = List.copyOf(handlers);
    }

    /** Returns limits that allow everything until an instant; null means without an end. */
    public static KeyLimits until(@Nullable Instant expiresAt) {
        return new KeyLimits(expiresAt, List.of(), List.of(), List.of());
    }

    /** Returns a copy with another end. */
    public KeyLimits withExpiry(@Nullable Instant end) {
        return new KeyLimits(end, addresses, queues, handlers);
    }

    /** Returns whether the key sees only a part of its project. */
    public boolean isRestricted() {
        return !queues.isEmpty() || !handlers.isEmpty();
    }

    /** Returns whether the key may see and change runs of this queue and handler; null stands for all of them. */
    public boolean allows(@Nullable String queue, @Nullable String handler) {
        return matches(queues, queue) && matches(handlers, handler);
    }

    /** Throws a problem with status 403 if the key may not create or select runs of this queue and handler. */
    public void require(@Nullable String queue, @Nullable String handler) {
        if (!allows(queue, handler))
            throw Problem.of(
                    403,
                    "forbidden",
                    ("Your key is restricted to the queues %s and the handlers %s. Name them in the request, or use"
                                    + " another key.")
                            .formatted(shown(queues), shown(handlers)));
    }

    private static String shown(List<String> patterns) {
        return patterns.isEmpty() ? "(all)" : patterns.toString();
    }

    private static boolean matches(List<String> patterns, @Nullable String name) {
        if (patterns.isEmpty()) return true;
        return name != null
                && patterns.stream()
                        .anyMatch(pattern -> pattern.endsWith("*")
                                ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                                : name.equals(pattern));
    }

    /**
     * The operations of keys that are restricted to queues or handlers: those that check the restriction. All others
     * are refused, so that a new operation is closed to such keys until it checks it too.
     */
    static final class RestrictedRoutes {
        private static final Set<String> CHECKED = Set.of(
                "GET /v1/runs",
                "POST /v1/runs",
                "POST /v1/runs:batch",
                "GET /v1/runs/{id}",
                "GET /v1/runs/{id}/attempts",
                "GET /v1/runs/{id}/explain",
                "POST /v1/runs/{id}/cancel",
                "POST /v1/runs/{id}/redrive",
                "POST /v1/runs/{id}/reschedule",
                "POST /v1/runs/{id}/replay",
                "GET /v1/schedules",
                "POST /v1/schedules:preview",
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
                "POST /v1/queues/{name}/pause",
                "POST /v1/queues/{name}/resume",
                "GET /v1/bulk-actions",
                "POST /v1/bulk-actions",
                "GET /v1/bulk-actions/{id}",
                "POST /v1/bulk-actions/{id}/abort");

        private RestrictedRoutes() {}

        static boolean contains(Route route) {
            return CHECKED.contains(route.method() + " " + route.path());
        }
    }
}
