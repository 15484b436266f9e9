package io.carillon.server.api;

import io.carillon.internal.value.TextCleaner;
import io.carillon.server.access.LeakedKeys;
import io.carillon.server.access.NewKeyLimits;
import io.carillon.server.access.PlaintextApiKey;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.KeyLimits;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.ApiKey;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.AuditRepository;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/** API keys of the caller's project, and its audit log. */
final class KeyRoutes {
    private static final Set<String> SCOPES = Set.of("read", "enqueue", "manage", "admin");
    private static final Duration LONGEST_OVERLAP = Duration.ofDays(30);

    private final RequestExecutor executor;
    private final ApiKeyRepository keys;
    private final AuditRepository audit;
    private final NewKeyLimits keyLimits;
    private final LeakedKeys leakedKeys;

    KeyRoutes(RequestExecutor executor, NewKeyLimits keyLimits, LeakedKeys leakedKeys) {
        this.executor = executor;
        this.keyLimits = keyLimits;
        this.leakedKeys = leakedKeys;
        this.keys = executor.context().repositories().keys();
        this.audit = executor.context().repositories().audit();
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/keys", Permission.ADMIN, this::list).withQuery("limit", "cursor"),
                Route.post("/v1/keys", Permission.ADMIN, this::create),
                Route.post("/v1/keys:revoke-by-value", Permission.PUBLIC, leakedKeys::revoke),
                Route.get("/v1/keys/{id}", Permission.ADMIN, this::get),
                Route.delete("/v1/keys/{id}", Permission.ADMIN, this::revoke),
                Route.post("/v1/keys/{id}/rotate", Permission.ADMIN, this::rotate),
                Route.get("/v1/audit", Permission.ADMIN, this::audit)
                        .withQuery("limit", "cursor", "action", "actor", "object"));
    }

    private ApiResponse list(ApiRequest request) {
        int limit = request.limit();
        String after = executor.cursor(request).orElse("");
        List<ApiKey> found = executor.read(
                request,
                transaction ->
                        keys.list(transaction.session(), transaction.project().name(), after, limit + 1));
        return executor.page(request, found, limit, JsonResponses::key, ApiKey::id);
    }

    private ApiResponse get(ApiRequest request) {
        return ApiResponse.ok(JsonResponses.key(
                executor.read(request, transaction -> requireKey(transaction, request.pathValue("id")))));
    }

    private ApiKey requireKey(RequestExecutor.RequestTransaction transaction, String id) throws SQLException {
        return keys.get(transaction.session(), transaction.project().name(), id)
                .orElseThrow(() -> Problem.notFound("key"));
    }

    private ApiResponse create(ApiRequest request) {
        RequestExecutor.refuseIdempotencyKey(request);
        JsonFields body = request.fields();
        String name = body.required("name", body.text("name"));
        List<String> scopes = body.required("scopes", body.texts("scopes"));
        NewKeyLimits.Requested requested = new NewKeyLimits.Requested(
                body.instant("expiresAt"), body.texts("addresses"), body.texts("queues"), body.texts("handlers"));
        body.refuseUnknown();
        if (name.isEmpty() || name.length() > 100)
            throw Problem.invalid("/name", "This must have between 1 and 100 characters.");
        if (scopes.isEmpty() || !SCOPES.containsAll(scopes) || scopes.size() > SCOPES.size())
            throw Problem.invalid(
                    "/scopes", "This must contain at least one of " + new java.util.TreeSet<>(SCOPES) + ".");
        return executor.change(request, "key.make", "key/" + TextCleaner.clean(name, 100), transaction -> {
            KeyLimits limits = keyLimits.ofNew(requested, request.caller(), executor.now());
            if (limits.isRestricted() && scopes.contains("admin"))
                throw Problem.invalid(
                        "/scopes", "A key that is restricted to queues or handlers cannot have the scope admin.");
            return createdResponse(transaction, request, name, scopes, limits);
        });
    }

    /** Stores the key and returns the only response that shows it. */
    private ApiResponse createdResponse(
            RequestExecutor.RequestTransaction transaction,
            ApiRequest request,
            String name,
            List<String> scopes,
            KeyLimits limits)
            throws SQLException {
        PlaintextApiKey fresh = PlaintextApiKey.generate();
        transaction.addAuditDetail("key", fresh.id());
        transaction.addAuditDetail("scopes", String.join(" ", scopes));
        if (limits.expiresAt() != null)
            transaction.addAuditDetail("expiresAt", limits.expiresAt().toString());
        if (!limits.addresses().isEmpty())
            transaction.addAuditDetail("addresses", String.join(" ", limits.addresses()));
        if (!limits.queues().isEmpty()) transaction.addAuditDetail("queues", String.join(" ", limits.queues()));
        if (!limits.handlers().isEmpty()) transaction.addAuditDetail("handlers", String.join(" ", limits.handlers()));
        keys.insert(
                transaction.session(),
                transaction.project().name(),
                new ApiKeyRepository.NewKey(
                        fresh.id(), fresh.hash(), name, scopes, request.caller().actor(), limits));
        return ApiResponse.json(
                201, JsonResponses.key(requireKey(transaction, fresh.id())).put("key", fresh.text()));
    }

    private ApiResponse revoke(ApiRequest request) {
        return executor.change(request, "key.revoke", "key/" + request.pathValue("id"), transaction -> {
            requireKey(transaction, request.pathValue("id"));
            keys.revoke(transaction.session(), transaction.project().name(), request.pathValue("id"));
            return ApiResponse.noContent();
        });
    }

    /** Creates a new key with the name, scopes and limits of the old one, which remains valid for the overlap. */
    private ApiResponse rotate(ApiRequest request) {
        RequestExecutor.refuseIdempotencyKey(request);
        JsonFields body = request.optionalFields();
        Duration overlap = body.duration("overlap").orElse(Duration.ofHours(24));
        body.refuseUnknown();
        if (overlap.isNegative() || overlap.compareTo(LONGEST_OVERLAP) > 0)
            throw Problem.invalid("/overlap", "This must be between 0 and 30 days.");
        return executor.change(request, "key.rotate", "key/" + request.pathValue("id"), transaction -> {
            ApiKey old = requireKey(transaction, request.pathValue("id"));
            ApiKeyRepository.Expiry kept = keys.replaceAfter(
                            transaction.session(), transaction.project().name(), old.id(), overlap.toMillis() / 1000.0)
                    .orElseThrow(() -> Problem.of(
                            409,
                            "key-revoked",
                            "This key was revoked or has expired and cannot be rotated. Create a new key with POST "
                                    + "/v1/keys."));
            boolean own = request.caller().actor().equals("key " + old.id());
            KeyLimits limits =
                    keyLimits.ofRotated(old.limits().withExpiry(kept.at()), request.caller(), own, executor.now());
            return createdResponse(transaction, request, old.name(), old.scopes(), limits);
        });
    }

    private ApiResponse audit(ApiRequest request) {
        int limit = request.limit();
        String before = executor.cursor(request).orElse("");
        AuditRepository.Filter filter = new AuditRepository.Filter(
                request.query("action").orElse(null),
                request.query("actor").orElse(null),
                request.query("object").orElse(null));
        List<AuditRepository.Entry> found = executor.read(
                request,
                transaction ->
                        audit.list(transaction.session(), transaction.project().name(), before, filter, limit + 1));
        return executor.page(request, found, limit, KeyRoutes::toJson, AuditRepository.Entry::id);
    }

    private static JsonObject toJson(AuditRepository.Entry entry) {
        AuditRepository.Change change = entry.change();
        return new JsonObject()
                .put("id", entry.id())
                .put("at", entry.at())
                .put("actor", change.actor())
                .put("action", change.action())
                .put("object", change.object())
                .put(
                        "detail",
                        Json.parseStored(change.detail().getBytes(StandardCharsets.UTF_8))
                                .orElse(null))
                .put("requestId", change.requestId());
    }
}
