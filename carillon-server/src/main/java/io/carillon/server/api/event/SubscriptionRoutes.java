package io.carillon.server.api.event;

import io.carillon.event.EventId;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionChange;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.internal.postgres.reads.EventReads;
import io.carillon.run.Target;
import io.carillon.server.api.QuotaCheck;
import io.carillon.server.api.RequestExecutor;
import io.carillon.server.api.RequestExecutor.RequestTransaction;
import io.carillon.server.event.EventInput;
import io.carillon.server.event.SubscriptionInput;
import io.carillon.server.event.SubscriptionJson;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.EntityTags;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Routes to create, change, read, pause, resume, replay and delete subscriptions, and to skip their events. */
final class SubscriptionRoutes {
    /** The replays of a project that are in progress. Each may create a run for each event that is kept. */
    private static final int MAX_REPLAYS = 5;

    private final RequestExecutor executor;
    private final QuotaCheck quotaCheck;

    SubscriptionRoutes(RequestExecutor executor, QuotaCheck quotaCheck) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/subscriptions", Permission.READ, this::list).withQuery("limit", "cursor"),
                Route.post("/v1/subscriptions", Permission.MANAGE, this::create),
                Route.get("/v1/subscriptions/{name}", Permission.READ, this::get),
                Route.put("/v1/subscriptions/{name}", Permission.MANAGE, this::update),
                Route.delete("/v1/subscriptions/{name}", Permission.MANAGE, this::delete),
                Route.post("/v1/subscriptions/{name}/pause", Permission.MANAGE, this::pause),
                Route.post("/v1/subscriptions/{name}/resume", Permission.MANAGE, this::resume),
                Route.post("/v1/subscriptions/{name}/replay", Permission.MANAGE, this::replay),
                Route.post("/v1/subscriptions/{name}/skip", Permission.MANAGE, this::skip));
    }

    private ApiResponse list(ApiRequest request) {
        int limit = request.limit();
        String after = executor.cursor(request).orElse("");
        List<Subscription> found = executor.read(
                request, transaction -> transaction.project().events().subscriptions(after, limit + 1));
        return executor.page(request, found, limit, SubscriptionJson::toJson, Subscription::name);
    }

    private ApiResponse get(ApiRequest request) {
        return executor.read(request, transaction -> toResponse(200, require(transaction, request.pathName("name"))));
    }

    private static ApiResponse toResponse(int status, Subscription subscription) {
        return toResponse(status, subscription, List.of());
    }

    private static ApiResponse toResponse(int status, Subscription subscription, List<String> warnings) {
        ApiResponse response = ApiResponse.json(
                        status,
                        SubscriptionJson.toJson(subscription).put("warnings", warnings.isEmpty() ? null : warnings))
                .withVersion(subscription.version());
        return status == 201 ? response.withLocation("/v1/subscriptions/" + subscription.name()) : response;
    }

    private static Subscription require(RequestTransaction transaction, String name) {
        return transaction.project().events().subscription(name).orElseThrow(() -> Problem.notFound("subscription"));
    }

    /** Returns the subscription of the path, if the headers of the request allow to change its version. */
    private static Subscription requireForChange(RequestTransaction transaction, ApiRequest request) {
        Subscription found = require(transaction, request.pathName("name"));
        EntityTags.check(request, Optional.of(found.version()));
        return found;
    }

    private static String auditObject(ApiRequest request) {
        return "subscription/" + request.pathName("name");
    }

    private ApiResponse create(ApiRequest request) {
        SubscriptionDefinition definition = SubscriptionInput.readNew(request.fields());
        String name = definition.name();
        return executor.change(request, "subscription.make", "subscription/" + name, transaction -> {
            List<String> warnings = store(transaction, definition, 0);
            quotaCheck.checkSubscriptions(transaction);
            return toResponse(201, require(transaction, name), warnings);
        });
    }

    private ApiResponse update(ApiRequest request) {
        SubscriptionDefinition definition = SubscriptionInput.read(request.pathName("name"), request.fields());
        return executor.change(request, "subscription.update", auditObject(request), transaction -> {
            Subscription before = requireForChange(transaction, request);
            List<String> warnings = store(transaction, definition, before.version());
            return toResponse(200, require(transaction, before.name()), warnings);
        });
    }

    /** Creates or changes a subscription that has this version. Returns warnings about its target. */
    private List<String> store(RequestTransaction transaction, SubscriptionDefinition definition, long version)
            throws SQLException {
        List<String> warnings = checkTarget(transaction, definition.target());
        transaction.addAuditDetail("topic", definition.pattern().topic());
        SubscriptionChange change = transaction.project().events().subscribe(definition, version);
        if (!(change instanceof SubscriptionChange.VersionConflict conflict)) return warnings;
        if (version == 0)
            throw Problem.of(
                    409,
                    "subscription-exists",
                    "A subscription of this name already exists. Change it with PUT or use another name.");
        throw Problem.versionConflict(
                conflict.expected(),
                conflict.actual(),
                "Another request has changed the subscription at the same time. Read it again and repeat the change.");
    }

    private List<String> checkTarget(RequestTransaction transaction, SubscriptionTarget target) throws SQLException {
        if (target instanceof SubscriptionTarget.Handler handler) {
            transaction.addAuditDetail("target", "handler/" + handler.name());
            return executor.warnings(Target.handler(handler.name()));
        }
        String endpoint = ((SubscriptionTarget.Endpoint) target).name();
        transaction.addAuditDetail("target", "endpoint/" + endpoint);
        boolean exists = executor.context()
                .requireWebhooks()
                .endpointStore()
                .endpoints()
                .getForUse(transaction.session(), transaction.project().name(), endpoint)
                .isPresent();
        if (exists) return List.of();
        throw Problem.invalid("/target/endpoint", "No endpoint has this name. Create one with POST /v1/endpoints.");
    }

    private ApiResponse delete(ApiRequest request) {
        return executor.change(request, "subscription.delete", auditObject(request), transaction -> {
            Subscription found = requireForChange(transaction, request);
            transaction.project().events().unsubscribe(found.name());
            return ApiResponse.noContent();
        });
    }

    private ApiResponse pause(ApiRequest request) {
        JsonFields body = request.optionalFields();
        String reason = body.text("reason").orElse("");
        body.refuseUnknown();
        return executor.change(request, "subscription.pause", auditObject(request), transaction -> {
            Subscription found = requireForChange(transaction, request);
            transaction
                    .project()
                    .events()
                    .pause(found.name(), reason, request.caller().actor());
            if (!reason.isEmpty()) transaction.addAuditDetail("reason", reason);
            return toResponse(200, require(transaction, found.name()));
        });
    }

    private ApiResponse resume(ApiRequest request) {
        request.optionalFields().refuseUnknown();
        return executor.change(request, "subscription.resume", auditObject(request), transaction -> {
            Subscription found = requireForChange(transaction, request);
            transaction.project().events().resume(found.name());
            return toResponse(200, require(transaction, found.name()));
        });
    }

    private ApiResponse replay(ApiRequest request) {
        JsonFields body = request.fields();
        Instant from = body.required("from", body.instant("from"));
        Instant to = body.required("to", body.instant("to"));
        body.refuseUnknown();
        if (!from.isBefore(to)) throw Problem.invalid("/from", "This must be before \"to\".");
        return executor.change(request, "subscription.replay", auditObject(request), transaction -> {
            Subscription found = requireForChange(transaction, request);
            long replays = EventReads.countReplays(
                    transaction.session(), transaction.project().name(), MAX_REPLAYS);
            if (replays >= MAX_REPLAYS)
                throw Problem.of(
                        409,
                        "replays-in-progress",
                        "The project has %d replays in progress, as many as it may have. Wait until one has ended."
                                .formatted(replays));
            quotaCheck.checkRuns(transaction, 1);
            transaction.project().events().replay(found.name(), from, to);
            transaction.addAuditDetail("from", from.toString());
            transaction.addAuditDetail("to", to.toString());
            return toResponse(202, require(transaction, found.name()));
        });
    }

    private ApiResponse skip(ApiRequest request) {
        JsonFields body = request.fields();
        EventId event = EventInput.id(body, "event");
        body.refuseUnknown();
        return executor.change(request, "subscription.skip", auditObject(request), transaction -> {
            Subscription found = requireForChange(transaction, request);
            if (!transaction.project().events().skip(found.name(), event))
                throw Problem.of(
                        409,
                        "event-passed",
                        "The subscription has passed this event, the event does not exist, or 1,000 events are skipped"
                                + " already. If the event has a run, cancel the run.");
            transaction.addAuditDetail("event", event.toString());
            return ApiResponse.ok(new JsonObject().put("event", event.toString()));
        });
    }
}
