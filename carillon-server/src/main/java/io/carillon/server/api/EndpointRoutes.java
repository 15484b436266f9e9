package io.carillon.server.api;

import io.carillon.CarillonException;
import io.carillon.QueueLimits;
import io.carillon.server.endpoint.EndpointInput;
import io.carillon.server.endpoint.EndpointJson;
import io.carillon.server.endpoint.EndpointSecrets;
import io.carillon.server.endpoint.EndpointUse;
import io.carillon.server.hooks.EndpointStore;
import io.carillon.server.hooks.SecretResealer;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.EntityTags;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.EndpointRepository;
import io.carillon.server.store.StoredEndpoint;
import io.carillon.spi.Secret;
import io.carillon.webhook.Endpoint;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Endpoints of the caller's project. A generated secret is shown only in the response that created it. */
final class EndpointRoutes {
    private static final Duration LONGEST_OVERLAP = Duration.ofDays(30);

    private final RequestExecutor executor;
    private final EndpointStore store;
    private final EndpointRepository endpoints;
    private final EndpointSecrets secrets;

    EndpointRoutes(RequestExecutor executor) {
        this.executor = executor;
        this.store = executor.context().webhooks().endpointStore();
        this.endpoints = store.endpoints();
        this.secrets = new EndpointSecrets(store);
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/endpoints", Permission.READ, this::list).withQuery("limit", "cursor"),
                Route.post("/v1/endpoints", Permission.MANAGE, this::create),
                Route.post("/v1/endpoints:re-encrypt", Permission.ADMIN, this::reEncrypt),
                Route.get("/v1/endpoints/{name}", Permission.READ, this::get),
                Route.put("/v1/endpoints/{name}", Permission.MANAGE, this::update),
                Route.delete("/v1/endpoints/{name}", Permission.MANAGE, this::delete)
                        .withQuery("force"),
                Route.post("/v1/endpoints/{name}/rotate", Permission.MANAGE, this::rotate));
    }

    private ApiResponse list(ApiRequest request) {
        int limit = request.limit();
        String after = executor.cursor(request).orElse("");
        List<StoredEndpoint> found = executor.read(
                request,
                transaction -> endpoints.list(
                        transaction.session(), transaction.project().name(), after, limit + 1));
        return executor.page(
                request, found, limit, endpoint -> EndpointJson.toJson(endpoint, Map.of()), StoredEndpoint::name);
    }

    private ApiResponse get(ApiRequest request) {
        StoredEndpoint found = executor.read(request, transaction -> requireEndpoint(transaction, name(request)));
        return toResponse(200, found, Map.of());
    }

    private static ApiResponse toResponse(int status, StoredEndpoint endpoint, Map<String, Secret> generated) {
        return ApiResponse.json(status, EndpointJson.toJson(endpoint, generated))
                .withVersion(endpoint.version());
    }

    /** Returns the name in the path. A value that is not a valid name is answered with 404. */
    private static String name(ApiRequest request) {
        try {
            return Endpoint.checkName(request.pathValue("name"));
        } catch (CarillonException invalid) {
            throw Problem.notFound("endpoint");
        }
    }

    private StoredEndpoint requireEndpoint(RequestExecutor.RequestTransaction transaction, String name)
            throws SQLException {
        return endpoints
                .get(transaction.session(), transaction.project().name(), name)
                .orElseThrow(() -> Problem.notFound("endpoint"));
    }

    private StoredEndpoint requireForUpdate(RequestExecutor.RequestTransaction transaction, ApiRequest request)
            throws SQLException {
        StoredEndpoint found = endpoints
                .getForUpdate(transaction.session(), transaction.project().name(), name(request))
                .orElseThrow(() -> Problem.notFound("endpoint"));
        EntityTags.check(request, Optional.of(found.version()));
        return found;
    }

    private ApiResponse create(ApiRequest request) {
        RequestExecutor.refuseIdempotencyKey(request);
        JsonFields body = request.fields();
        String given = body.required("name", body.text("name"));
        String name = body.convert("name", () -> Endpoint.checkName(given));
        EndpointInput input = EndpointInput.read(body);
        List<EndpointInput.SecretInput> wanted = input.secrets().orElse(List.of());
        if (!wanted.isEmpty()) secrets.requireMasterKey();
        String actor = request.caller().actor();
        return executor.change(request, "endpoint.make", "endpoint/" + name, transaction -> {
            if (!endpoints.insert(transaction.session(), transaction.project().name(), name, input.request(), actor))
                throw Problem.of(
                        409,
                        "endpoint-exists",
                        "An endpoint of this name already exists. Update it or use another name.");
            StoredEndpoint created = requireEndpoint(transaction, name);
            transaction.addAuditDetail("origin", created.origin());
            auditSecrets(transaction, wanted);
            Map<String, Secret> generated = secrets.replace(transaction.session(), created, wanted, false, actor);
            setLimits(transaction, name, input.limits());
            return toResponse(201, requireEndpoint(transaction, name), generated);
        });
    }

    /** Records the names of the secrets, never their values. */
    private static void auditSecrets(
            RequestExecutor.RequestTransaction transaction, List<EndpointInput.SecretInput> secrets) {
        transaction.addAuditDetail(
                "secrets", secrets.stream().map(EndpointInput.SecretInput::name).collect(Collectors.joining(", ")));
    }

    private static void setLimits(
            RequestExecutor.RequestTransaction transaction, String name, Optional<QueueLimits> limits) {
        limits.ifPresent(wanted -> transaction.project().queues().limit(Endpoint.queueOf(name), wanted));
    }

    /** Replaces the settings of an endpoint. Its secrets stay unless the request has the field secrets. */
    private ApiResponse update(ApiRequest request) {
        RequestExecutor.refuseIdempotencyKey(request);
        EndpointInput input = EndpointInput.read(request.fields());
        if (!input.secrets().orElse(List.of()).isEmpty()) secrets.requireMasterKey();
        return executor.change(request, "endpoint.update", "endpoint/" + name(request), transaction -> {
            StoredEndpoint before = requireForUpdate(transaction, request);
            endpoints.update(transaction.session(), before.project(), before.name(), input.request());
            StoredEndpoint changed = requireEndpoint(transaction, before.name());
            boolean moved = !changed.origin().equals(before.origin());
            if (moved) secrets.requireAllAgain(before, changed.origin(), input.secrets());
            transaction.addAuditDetail("origin", changed.origin());
            Map<String, Secret> generated = Map.of();
            if (input.secrets().isPresent()) {
                List<EndpointInput.SecretInput> wanted = input.secrets().get();
                auditSecrets(transaction, wanted);
                String actor = request.caller().actor();
                generated = secrets.replace(transaction.session(), changed, wanted, moved, actor);
            }
            setLimits(transaction, before.name(), input.limits());
            return toResponse(200, requireEndpoint(transaction, before.name()), generated);
        });
    }

    /**
     * Replaces a secret. Both signing secrets sign during the overlap, so that receivers can change theirs at any time
     * within it.
     */
    private ApiResponse rotate(ApiRequest request) {
        RequestExecutor.refuseIdempotencyKey(request);
        JsonFields body = request.optionalFields();
        Duration overlap = body.duration("overlap").orElse(Duration.ofHours(24));
        Optional<String> wanted = body.text("secret");
        Optional<String> value = body.text("value");
        body.refuseUnknown();
        if (overlap.isNegative() || overlap.compareTo(LONGEST_OVERLAP) > 0)
            throw Problem.invalid("/overlap", "This must be between 0 and 30 days.");
        return executor.change(request, "endpoint.rotate", "endpoint/" + name(request), transaction -> {
            StoredEndpoint endpoint = requireForUpdate(transaction, request);
            StoredEndpoint.StoredSecret old = requireSecret(endpoint, wanted.orElse(null));
            secrets.requireMasterKey();
            if (value.isEmpty() && !old.signs())
                throw Problem.invalid("/value", "This secret is the value of a header. Send the new value.");
            Optional<Secret> given = EndpointInput.value(body, old.signs());
            Secret fresh = given.orElseGet(EndpointSecrets::generate);
            store.secrets()
                    .rotate(
                            transaction.session(),
                            endpoint.project(),
                            endpoint.name(),
                            secrets.seal(
                                    endpoint, new EndpointInput.SecretInput(old.name(), old.header(), given), fresh),
                            overlap.toMillis() / 1000.0);
            // Raises the version.
            endpoints.update(transaction.session(), endpoint.project(), endpoint.name(), endpoint.request());
            transaction.addAuditDetail("secret", old.name());
            transaction.addAuditDetail("overlap", overlap.toString());
            return toResponse(
                    201,
                    requireEndpoint(transaction, endpoint.name()),
                    given.isPresent() ? Map.of() : Map.of(old.name(), fresh));
        });
    }

    /** Returns the secret of this name; null selects the only secret. */
    private static StoredEndpoint.StoredSecret requireSecret(StoredEndpoint endpoint, @Nullable String name) {
        List<String> names = endpoint.secrets().stream()
                .map(StoredEndpoint.StoredSecret::name)
                .toList();
        return endpoint.secrets().stream()
                .filter(secret ->
                        name == null ? names.size() == 1 : secret.name().equals(name))
                .findFirst()
                .orElseThrow(() -> Problem.invalid(
                        "/secret",
                        names.isEmpty()
                                ? "This endpoint has no secrets. Add one by an update of the endpoint."
                                : "This must be one of " + String.join(", ", names) + "."));
    }

    private ApiResponse delete(ApiRequest request) {
        boolean force = request.wordParameter("force", List.of("true", "false"))
                .map(Boolean::parseBoolean)
                .orElse(false);
        return executor.change(request, "endpoint.delete", "endpoint/" + name(request), transaction -> {
            StoredEndpoint endpoint = endpoints
                    .getForDelete(transaction.session(), transaction.project().name(), name(request))
                    .orElseThrow(() -> Problem.notFound("endpoint"));
            EntityTags.check(request, Optional.of(endpoint.version()));
            EndpointUse use = EndpointUse.of(transaction.session(), endpoint.project(), endpoint.name());
            if (!force) use.requireNone();
            else use.pause(transaction.project(), request.caller().actor());
            transaction.addAuditDetail(
                    "pausedSchedules", Integer.toString(use.schedules().size()));
            transaction.addAuditDetail("pausedRuns", Long.toString(use.runs()));
            endpoints.delete(transaction.session(), endpoint.project(), endpoint.name());
            return ApiResponse.noContent();
        });
    }

    /**
     * Encrypts the secrets of up to 10,000 endpoints again with the current master key. The caller repeats the request
     * with {@code next} until the response has none.
     */
    private ApiResponse reEncrypt(ApiRequest request) {
        request.caller().requireServerAdmin();
        JsonFields body = request.optionalFields();
        String after = body.text("after").orElse("");
        body.refuseUnknown();
        secrets.requireMasterKey();
        SecretResealer.ResealResult result = store.resealer().reseal(after);
        return executor.change(request, "endpoint.re-encrypt", "endpoints", transaction -> {
            transaction.addAuditDetail("done", Integer.toString(result.done()));
            return ApiResponse.ok(new JsonObject()
                    .put("done", result.done())
                    .put("unreadable", result.unreadable())
                    .put("next", result.next()));
        });
    }
}
