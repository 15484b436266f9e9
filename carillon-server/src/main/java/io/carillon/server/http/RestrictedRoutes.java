package io.carillon.server.http;

import java.util.Set;

/**
 * The operations of keys that are restricted to queues or handlers: those that check the restriction. All others are
 * refused, so that a new operation is closed to such keys until it checks it too.
 */
final class RestrictedRoutes {
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
