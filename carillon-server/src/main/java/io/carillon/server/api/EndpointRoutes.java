package io.carillon.server.api;

import io.carillon.CarillonException;
import io.carillon.QueueInfo;
import io.carillon.QueueLimits;
import io.carillon.internal.postgres.reads.QueueReads;
import io.carillon.server.endpoint.EndpointInput;
import io.carillon.server.endpoint.EndpointJson;
import io.carillon.server.endpoint.EndpointSecrets;
import io.carillon.server.endpoint.EndpointUse;
import io.carillon.server.endpoint.SigningAlgorithm;
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
import io.carillon.server.request.IdempotentRequest;
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
    private final QuotaCheck quotaCheck;

    EndpointRoutes(RequestExecutor executor, QuotaCheck quotaCheck) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
        this.store = executor.context().requireWebhooks().endpointStore();
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
        return executor.read(request, transaction -> {
            List<StoredEndpoint> found =
                    endpoints.list(transaction.session(), transaction.project().name(), after, limit + 1);
            Map<String, QueueInfo.Pause> pauses = pauses(transaction, found);
            return executor.page(
                    request,
                    found,
                    limit,
                    endpoint -> request.caller().limits().allowsEndpoint(endpoint.name()),
                    endpoint -> EndpointJson.toJson(endpoint, Map.of(), pauses.get(Endpoint.queueOf(endpoint.name()))),
                    StoredEndpoint::name);
        });
    }

    private static Map<String, QueueInfo.Pause> pauses(
            RequestExecutor.RequestTransaction transaction, List<StoredEndpoint> endpoints) throws SQLException {
        return QueueReads.pauses(
                transaction.session(),
                transaction.project().name(),
                endpoints.stream()
                        .map(endpoint -> Endpoint.queueOf(endpoint.name()))
                        .toList());
    }

    private ApiResponse get(ApiRequest request) {
        return executor.read(request, transaction -> toResponse(200, transaction, name(request), Map.of()));
    }

    /** Returns the endpoint as it is now, with the generated secrets. */
    private ApiResponse toResponse(
            int status, RequestExecutor.RequestTransaction transaction, String name, Map<String, Secret> generated)
            throws SQLException {
        StoredEndpoint endpoint = requireEndpoint(transaction, name);
        QueueInfo.Pause pause = pauses(transaction, List.of(endpoint)).get(Endpoint.queueOf(name));
        ApiResponse response = ApiResponse.json(status, EndpointJson.toJson(endpoint, generated, pause))
                .withVersion(endpoint.version());
        return status == 201 ? response.withLocation("/v1/endpoints/" + endpoint.name()) : response;
    }

    /**
     * Returns the name in the path. A value that is not a valid name is answered with 404, and so is an endpoint that a
     * restricted key does not see.
     */
    private static String name(ApiRequest request) {
        String name = request.pathValue("name");
        if (!request.caller().limits().allowsEndpoint(name)) throw Problem.notFound("endpoint");
        try {
            return Endpoint.checkName(name);
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
        IdempotentRequest.refuseKey(request);
        JsonFields body = request.fields();
        String given = body.required("name", body.text("name"));
        String name = body.convert("name", () -> Endpoint.checkName(given));
        request.caller().limits().requireEndpoint(name);
        EndpointInput input = EndpointInput.read(body);
        List<EndpointInput.SecretInput> wanted = input.secrets().orElse(List.of());
        if (!wanted.isEmpty()) secrets.requireMasterKey();
        String actor = request.caller().actor();
        return executor.change(request, "endpoint.make", "endpoint/" + name, transaction -> {
            if (!endpoints.insert(
                    transaction.session(), transaction.project().name(), name, input.request(), input.retry(), actor))
                throw Problem.of(
                        409,
                        "endpoint-exists",
                        "An endpoint of this name already exists. Update it or use another name.");
            quotaCheck.checkEndpoints(transaction, endpoints);
            StoredEndpoint created = requireEndpoint(transaction, name);
            transaction.addAuditDetail("origin", created.origin());
            auditSecrets(transaction, wanted);
            Map<String, Secret> generated = secrets.replace(transaction.session(), created, wanted, false, actor);
            setLimits(transaction, name, input.limits());
            if (EndpointUse.resumeEmptyQueue(transaction.session(), transaction.project(), name))
                transaction.addAuditDetail("resumedQueue", Endpoint.queueOf(name));
            return toResponse(201, transaction, name, generated);
        });
    }

    /** Records the names of the secrets, never their values. */
    private static void auditSecrets(
            RequestExecutor.RequestTransaction transaction, List<EndpointInput.SecretInput> secrets) {
        transaction.addAuditDetail(
                "secrets", secrets.stream().map(EndpointInput.SecretInput::name).collect(Collectors.joining(", ")));
    }

    private static void setLimits(
            RequestExecutor.RequestTransaction transaction, String name, Optional<QueueLimits> limits)
            throws SQLException {
        if (limits.isEmpty()) return;
        transaction.project().queues().limit(Endpoint.queueOf(name), limits.get());
        QuotaCheck.checkQueueSettings(transaction);
    }

    /** Replaces the settings of an endpoint. Its secrets stay unless the request has the field secrets. */
    private ApiResponse update(ApiRequest request) {
        IdempotentRequest.refuseKey(request);
        EndpointInput input = EndpointInput.read(request.fields());
        if (!input.secrets().orElse(List.of()).isEmpty()) secrets.requireMasterKey();
        return executor.change(request, "endpoint.update", "endpoint/" + name(request), transaction -> {
            StoredEndpoint before = requireForUpdate(transaction, request);
            endpoints.update(transaction.session(), before.project(), before.name(), input.request(), input.retry());
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
            return toResponse(200, transaction, before.name(), generated);
        });
    }

    /**
     * Replaces a secret. Both signing secrets sign during the overlap, so that receivers can change theirs at any time
     * within it.
     */
    private ApiResponse rotate(ApiRequest request) {
        IdempotentRequest.refuseKey(request);
        JsonFields body = request.optionalFields();
        Duration overlap = body.duration("overlap").orElse(Duration.ofHours(24));
        Optional<String> wanted = body.text("secret");
        Optional<String> value = body.text("value");
        Optional<SigningAlgorithm> algorithm = body.enumValue("algorithm", SigningAlgorithm.class);
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
            algorithm.ifPresent(wantedOne -> EndpointInput.checkAlgorithm(body, wantedOne, old.signs(), given));
            Secret fresh = given.orElseGet(
                    () -> algorithm.orElseGet(() -> SigningAlgorithm.of(old)).generate());
            store.secrets()
                    .rotate(
                            transaction.session(),
                            endpoint.project(),
                            endpoint.name(),
                            secrets.seal(
                                    endpoint,
                                    new EndpointInput.SecretInput(old.name(), old.header(), given, algorithm),
                                    fresh),
                            overlap.toMillis() / 1000.0);
            // Raises the version.
            endpoints.update(
                    transaction.session(), endpoint.project(), endpoint.name(), endpoint.request(), endpoint.retry());
            transaction.addAuditDetail("secret", old.name());
            transaction.addAuditDetail("overlap", overlap.toString());
            return toResponse(
                    201, transaction, endpoint.name(), given.isPresent() ? Map.of() : Map.of(old.name(), fresh));
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
            else {
                use.pause(transaction.project(), request.caller().actor());
                QuotaCheck.checkQueueSettings(transaction);
            }
            transaction.addAuditDetail(
                    "pausedSchedules", Integer.toString(use.schedules().size()));
            transaction.addAuditDetail(
                    "pausedSubscriptions", Integer.toString(use.subscriptions().size()));
            transaction.addAuditDetail("pausedRuns", Long.toString(use.runs()));
            endpoints.delete(transaction.session(), endpoint.project(), endpoint.name());
            return ApiResponse.noContent();
        });
    }

    /**
     * Encrypts up to 10,000 secrets of endpoints again with the current master key. The caller repeats the request
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
