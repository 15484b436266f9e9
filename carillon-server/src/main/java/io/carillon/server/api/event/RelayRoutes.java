package io.carillon.server.api.event;

import io.carillon.event.EventId;
import io.carillon.event.Relay;
import io.carillon.event.Relays;
import io.carillon.server.api.RequestExecutor;
import io.carillon.server.api.RequestExecutor.RequestTransaction;
import io.carillon.server.event.EventInput;
import io.carillon.server.event.RelayJson;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import java.util.List;

/** Routes to read relays and sources, and to decide about the events that a destination has rejected. */
final class RelayRoutes {
    private static final int MAX_REJECTED = 100;

    private final RequestExecutor executor;

    RelayRoutes(RequestExecutor executor) {
        this.executor = executor;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/relays", Permission.READ, this::list).withQuery("limit", "cursor"),
                Route.get("/v1/relays/{name}", Permission.READ, this::get),
                Route.delete("/v1/relays/{name}", Permission.MANAGE, this::remove),
                Route.post(
                        "/v1/relays/{name}/retry",
                        Permission.MANAGE,
                        request -> decide(request, "relay.retry", Relays::retry)),
                Route.post(
                        "/v1/relays/{name}/skip",
                        Permission.MANAGE,
                        request -> decide(request, "relay.skip", Relays::skip)),
                Route.get("/v1/sources", Permission.READ, this::sources));
    }

    private ApiResponse list(ApiRequest request) {
        int limit = request.limit();
        String after = executor.cursor(request).orElse("");
        List<Relay> found = executor.read(
                request, transaction -> transaction.project().events().relays().list(after, limit + 1));
        return executor.page(request, found, limit, relay -> toJson(request, relay), Relay::name);
    }

    private JsonObject toJson(ApiRequest request, Relay relay) {
        return RelayJson.toJson(relay, executor.context().cursors().eventPosition(request, relay.position()));
    }

    private static Relay require(RequestTransaction transaction, ApiRequest request) {
        return transaction
                .project()
                .events()
                .relays()
                .get(request.pathName("name"))
                .orElseThrow(() -> Problem.notFound("relay"));
    }

    private ApiResponse get(ApiRequest request) {
        return executor.read(request, transaction -> {
            Relay relay = require(transaction, request);
            List<Relay.Rejected> rejected =
                    transaction.project().events().relays().rejected(relay.name(), MAX_REJECTED);
            return ApiResponse.ok(toJson(request, relay)
                    .put(
                            "rejectedEvents",
                            rejected.stream().map(RelayJson::toJson).toList()));
        });
    }

    private static String auditObject(ApiRequest request) {
        return "relay/" + request.pathName("name");
    }

    private ApiResponse remove(ApiRequest request) {
        return executor.change(request, "relay.delete", auditObject(request), transaction -> {
            transaction
                    .project()
                    .events()
                    .relays()
                    .remove(require(transaction, request).name());
            return ApiResponse.noContent();
        });
    }

    private interface Decision {
        boolean apply(Relays relays, String relay, EventId event);
    }

    private ApiResponse decide(ApiRequest request, String action, Decision decision) {
        JsonFields body = request.fields();
        EventId event = EventInput.id(body, "event");
        body.refuseUnknown();
        return executor.change(request, action, auditObject(request), transaction -> {
            Relay relay = require(transaction, request);
            if (!decision.apply(transaction.project().events().relays(), relay.name(), event))
                throw Problem.of(
                        409,
                        "event-not-rejected",
                        "The event is not among the rejected ones of this relay. Read the relay to see them.");
            transaction.addAuditDetail("event", event.toString());
            return ApiResponse.ok(new JsonObject().put("event", event.toString()));
        });
    }

    private ApiResponse sources(ApiRequest request) {
        return executor.read(
                request,
                transaction -> ApiResponse.ok(new JsonObject()
                        .put(
                                "items",
                                transaction.project().events().sources().list().stream()
                                        .map(RelayJson::toJson)
                                        .toList())));
    }
}
