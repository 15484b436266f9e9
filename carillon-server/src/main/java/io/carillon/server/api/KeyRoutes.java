package io.carillon.server.api;

import io.carillon.internal.value.TextCleaner;
import io.carillon.server.access.LeakedKeys;
import io.carillon.server.access.NewKeyLimits;
import io.carillon.server.access.PlaintextApiKey;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.KeyLimits;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.request.IdempotentRequest;
import io.carillon.server.store.ApiKey;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.UserRepository;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** API keys of the caller's project, and its audit log. */
final class KeyRoutes {
    private static final Set<String> SCOPES = Set.of("read", "enqueue", "manage", "admin");
    private static final Duration LONGEST_OVERLAP = Duration.ofDays(30);

    private final RequestExecutor executor;
    private final ApiKeyRepository keys;
    private final NewKeyLimits keyLimits;
    private final LeakedKeys leakedKeys;

    KeyRoutes(RequestExecutor executor, NewKeyLimits keyLimits, LeakedKeys leakedKeys) {
        this.executor = executor;
        this.keyLimits = keyLimits;
        this.leakedKeys = leakedKeys;
        this.keys = executor.context().repositories().keys();
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/keys", Permission.ADMIN, this::list).withQuery("limit", "cursor"),
                Route.post("/v1/keys", Permission.ADMIN, this::create),
                Route.post("/v1/keys:revoke-by-value", Permission.PUBLIC, leakedKeys::revoke),
                Route.get("/v1/keys/{id}", Permission.ADMIN, this::get),
                Route.delete("/v1/keys/{id}", Permission.ADMIN, this::revoke),
                Route.post("/v1/keys/{id}/rotate", Permission.ADMIN, this::rotate),
                audit(executor, Permission.ADMIN));
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
        IdempotentRequest.refuseKey(request);
        JsonFields body = request.fields();
        String name = body.required("name", body.text("name"));
        List<String> scopes = body.required("scopes", body.texts("scopes"));
        NewKeyLimits.Requested requested = new NewKeyLimits.Requested(
                body.instant("expiresAt"),
                body.texts("addresses"),
                body.texts("queues"),
                body.texts("handlers"),
                body.texts("endpoints"));
        body.refuseUnknown();
        if (name.isEmpty() || name.length() > 100)
            throw Problem.invalid("/name", "This must have between 1 and 100 characters.");
        if (scopes.isEmpty() || !SCOPES.containsAll(scopes) || scopes.size() > SCOPES.size())
            throw Problem.invalid(
                    "/scopes", "This must contain at least one of " + new java.util.TreeSet<>(SCOPES) + ".");
        return executor.change(request, "key.make", "key/" + TextCleaner.clean(name, 100), transaction -> {
            KeyLimits limits =
                    keyLimits.ofNew(requested, executor.currentCaller(request, transaction.session()), executor.now());
            if (limits.isRestricted() && scopes.contains("admin"))
                throw Problem.invalid(
                        "/scopes",
                        "A key that is restricted to queues, handlers or endpoints cannot have the scope admin.");
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
        PlaintextApiKey fresh = executor.context().keyIssuer().generate();
        transaction.addAuditDetail("key", fresh.id());
        transaction.addAuditDetail("scopes", String.join(" ", scopes));
        if (limits.expiresAt() != null)
            transaction.addAuditDetail("expiresAt", limits.expiresAt().toString());
        addAuditDetail(transaction, "addresses", limits.addresses());
        addAuditDetail(transaction, "queues", limits.queues());
        addAuditDetail(transaction, "handlers", limits.handlers());
        addAuditDetail(transaction, "endpoints", limits.endpoints());
        keys.insert(
                transaction.session(),
                transaction.project().name(),
                new ApiKeyRepository.NewKey(
                        fresh.id(), fresh.hash(), name, scopes, request.caller().actor(), limits));
        return ApiResponse.json(
                        201,
                        JsonResponses.key(requireKey(transaction, fresh.id())).put("key", fresh.text()))
                .withLocation("/v1/keys/" + fresh.id());
    }

    private static void addAuditDetail(
            RequestExecutor.RequestTransaction transaction, String list, List<String> values) {
        if (!values.isEmpty()) transaction.addAuditDetail(list, String.join(" ", values));
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
        IdempotentRequest.refuseKey(request);
        JsonFields body = request.optionalFields();
        Duration overlap = body.duration("overlap").orElse(Duration.ofHours(24));
        body.refuseUnknown();
        if (overlap.isNegative() || overlap.compareTo(LONGEST_OVERLAP) > 0)
            throw Problem.invalid("/overlap", "This must be between 0 and 30 days.");
        return executor.change(request, "key.rotate", "key/" + request.pathValue("id"), transaction -> {
            ApiKey old = requireKey(transaction, request.pathValue("id"));
            Caller caller = executor.currentCaller(request, transaction.session());
            boolean own = caller.keyId().equals(Optional.of(old.id()));
            ApiKeyRepository.Expiry kept = keys.replaceAfter(
                            transaction.session(),
                            transaction.project().name(),
                            old.id(),
                            overlap.toMillis() / 1000.0,
                            !own)
                    .orElseThrow(() -> own ? alreadyRotated() : ended());
            KeyLimits limits = keyLimits.ofRotated(old.limits().withExpiry(kept.at()), caller, executor.now());
            return createdResponse(transaction, request, old.name(), old.scopes(), limits);
        });
    }

    private static Problem ended() {
        return Problem.of(
                409,
                "key-revoked",
                "This key was revoked or has expired and cannot be rotated. Create a new key with POST /v1/keys.");
    }

    private static Problem alreadyRotated() {
        return Problem.of(
                409,
                "key-rotated",
                "Your key was already rotated and cannot replace itself again. Use the key that replaced it, or rotate"
                        + " with another key that has the scope admin.");
    }

    /** Returns the route of the audit log, for callers with this permission. */
    static Route audit(RequestExecutor executor, Permission permission) {
        return Route.get("/v1/audit", permission, request -> audit(executor, request))
                .withQuery("limit", "cursor", "action", "actor", "object");
    }

    private static ApiResponse audit(RequestExecutor executor, ApiRequest request) {
        AuditRepository audit = executor.context().repositories().audit();
        int limit = request.limit();
        String before = executor.cursor(request).orElse("");
        AuditRepository.Filter filter = new AuditRepository.Filter(
                request.query("action").orElse(null),
                request.query("actor").orElse(null),
                request.query("object").orElse(null));
        Map<UUID, UserRepository.StoredUser> users = new HashMap<>();
        AuditRepository.Page found = executor.read(request, transaction -> {
            AuditRepository.Page page =
                    audit.page(transaction.session(), transaction.project().name(), before, filter, limit);
            Set<UUID> actors = page.entries().stream()
                    .flatMap(entry -> Caller.userOf(entry.change().actor()).stream())
                    .collect(Collectors.toSet());
            users.putAll(executor.context().repositories().users().getAll(transaction.session(), actors));
            return page;
        });
        return executor.page(request, found.entries().stream().map(entry -> toJson(entry, users)), found.next());
    }

    private static JsonObject toJson(AuditRepository.Entry entry, Map<UUID, UserRepository.StoredUser> users) {
        AuditRepository.Change change = entry.change();
        return new JsonObject()
                .put("id", entry.id())
                .put("at", entry.at())
                .put("actor", change.actor())
                .put(
                        "actorName",
                        Caller.userOf(change.actor())
                                .map(users::get)
                                .map(UserRepository.StoredUser::name)
                                .orElse(null))
                .put("action", change.action())
                .put("object", change.object())
                .put(
                        "detail",
                        Json.parseStored(change.detail().getBytes(StandardCharsets.UTF_8))
                                .orElse(null))
                .put("requestId", change.requestId());
    }
}
