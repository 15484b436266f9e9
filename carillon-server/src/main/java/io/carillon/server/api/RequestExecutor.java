package io.carillon.server.api;

import io.carillon.CarillonException;
import io.carillon.Project;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.value.Names;
import io.carillon.schedule.SearchBudget;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Problem;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.IdempotencyRepository;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Executes each request in one transaction of the caller's project. The change, its audit entry and, with an
 * Idempotency-Key, the stored response commit together. Nodes are notified after the commit.
 */
final class RequestExecutor {
    private static final String LOCK_TIMEOUT = "55P03";
    /** Enough for a thousand runs in any time zone, or for 90 schedules with a thousand excluded dates each. */
    private static final long MAX_SEARCH_STEPS = 100_000;

    private static final Duration MAX_SEARCH_TIME = Duration.ofSeconds(2);

    private final ServerContext context;

    RequestExecutor(ServerContext context) {
        this.context = context;
    }

    /** The transaction of a request, and the project's API within it. */
    record RequestTransaction(Project project, Session session, ObjectNode auditDetail) {
        /** Adds a detail to the audit entry. It must not contain a secret. */
        void addAuditDetail(String name, String value) {
            auditDetail.put(name, value);
        }
    }

    /** The code of a request. */
    @FunctionalInterface
    interface RequestAction<T> {
        T run(RequestTransaction requestTransaction) throws SQLException;
    }

    /** Runs code that only reads, in one transaction of the caller's project. */
    <T> T read(ApiRequest request, RequestAction<T> action) {
        String project = request.caller().project();
        Project projectApi = context.carillon().project(project);
        return context.transactions()
                .runInProject(
                        project,
                        session -> action.run(new RequestTransaction(
                                projectApi.in(session.connection(), hint -> {}),
                                session,
                                JsonNodeFactory.instance.objectNode())));
    }

    /** Runs code that changes something. The audit entry contains {@code action} and {@code object}. */
    ApiResponse change(ApiRequest request, String action, String object, RequestAction<ApiResponse> requestAction) {
        String project = request.caller().project();
        Project projectApi = context.carillon().project(project);
        List<Runnable> hints = new ArrayList<>();
        ApiResponse response = context.transactions().runInProject(project, session -> {
            hints.clear();
            return runIdempotent(request, session, () -> {
                RequestTransaction transaction = new RequestTransaction(
                        projectApi.in(session.connection(), hints::add),
                        session,
                        JsonNodeFactory.instance.objectNode());
                ApiResponse done = requestAction.run(transaction);
                audit(request, session, action, object, transaction.auditDetail());
                return done;
            });
        });
        hints.forEach(Runnable::run);
        return response;
    }

    void audit(ApiRequest request, Session session, String action, String object, ObjectNode detail)
            throws SQLException {
        context.repositories()
                .audit()
                .write(
                        session,
                        request.caller().project(),
                        new AuditRepository.Change(
                                request.caller().actor(),
                                action,
                                object,
                                new String(Json.bytes(detail), StandardCharsets.UTF_8),
                                request.requestId()));
    }

    private interface IdempotentAction {
        ApiResponse run() throws SQLException;
    }

    /** Runs the action once per Idempotency-Key; a repeated request receives the stored response. */
    private ApiResponse runIdempotent(ApiRequest apiRequest, Session session, IdempotentAction idempotentAction)
            throws SQLException {
        Optional<String> given = apiRequest.header("Idempotency-Key");
        if (given.isEmpty()) return idempotentAction.run();
        String key = checkedKey(given.get());
        String project = apiRequest.caller().project();
        IdempotencyRepository answers = context.repositories().idempotency();
        byte[] request = requestHash(apiRequest);
        if (!reserveKey(answers, session, project, key, request)) {
            IdempotencyRepository.StoredResponse storedResponse =
                    answers.get(session, project, key).orElseThrow(RequestExecutor::inFlight);
            if (!Arrays.equals(storedResponse.requestHash(), request))
                throw Problem.of(
                        422,
                        "idempotency-key-reused",
                        "This Idempotency-Key was used with a different request. Use a new key for each request.");
            return replay(storedResponse);
        }
        ApiResponse response = idempotentAction.run();
        answers.save(
                session,
                project,
                key,
                new IdempotencyRepository.StoredResponse(
                        request,
                        response.status(),
                        response.body(),
                        Optional.ofNullable(response.headers().get("ETag"))));
        return response;
    }

    /**
     * Rejects an Idempotency-Key on requests whose response shows a secret, because that response must not be stored.
     */
    static void refuseIdempotencyKey(ApiRequest request) {
        if (request.header("Idempotency-Key").isPresent())
            throw Problem.of(
                            400,
                            "invalid-header",
                            "The response shows a secret and is not stored. The field \"errors\" says where.")
                    .withFault("Idempotency-Key", "This operation does not accept the header. Leave it out.");
    }

    private static boolean reserveKey(
            IdempotencyRepository answers, Session session, String project, String key, byte[] request)
            throws SQLException {
        try {
            return answers.reserve(session, project, key, request);
        } catch (SQLException failure) {
            if (LOCK_TIMEOUT.equals(failure.getSQLState())) throw inFlight();
            throw failure;
        }
    }

    private static ApiResponse replay(IdempotencyRepository.StoredResponse storedResponse) {
        ApiResponse response = (storedResponse.body().length == 0
                        ? ApiResponse.noContent()
                        : ApiResponse.json(storedResponse.status(), storedResponse.body()))
                .withHeader("Idempotency-Replayed", "true");
        return storedResponse.entityTag().isPresent()
                ? response.withHeader("ETag", storedResponse.entityTag().get())
                : response;
    }

    private static Problem inFlight() {
        return Problem.of(
                        409,
                        "idempotency-key-in-flight",
                        "Another request with this Idempotency-Key is in progress. Try again later.")
                .withHeader("Retry-After", "1");
    }

    private static String checkedKey(String key) {
        try {
            return Names.checkKey("Idempotency-Key", key);
        } catch (CarillonException wrong) {
            throw Problem.of(400, "invalid-header", "Invalid header. The field \"errors\" says where.")
                    .withFault("Idempotency-Key", String.valueOf(wrong.getMessage()));
        }
    }

    private static byte[] requestHash(ApiRequest request) {
        try {
            MessageDigest hash = MessageDigest.getInstance("SHA-256");
            hash.update(request.requestedPath().getBytes(StandardCharsets.UTF_8));
            hash.update((byte) 0);
            return hash.digest(request.body());
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("SHA-256 is missing in this JDK", impossible);
        }
    }

    /**
     * Returns one page of a list, with the cursor of the next page if there is one. The caller passes up to {@code
     * limit + 1} items.
     */
    <T> ApiResponse page(
            ApiRequest request,
            List<T> items,
            int limit,
            Function<T, JsonObject> toJson,
            Function<T, String> cursorKey) {
        return page(request, items, limit, item -> true, toJson, cursorKey);
    }

    /**
     * Like {@link #page(ApiRequest, List, int, Function, Function)}, but shows only the items that a restricted key may
     * see. A page may then be shorter than its limit, and even empty, although there are more.
     */
    <T> ApiResponse page(
            ApiRequest request,
            List<T> items,
            int limit,
            Predicate<T> visible,
            Function<T, JsonObject> toJson,
            Function<T, String> cursorKey) {
        JsonObject body = new JsonObject()
                .put(
                        "items",
                        items.stream().limit(limit).filter(visible).map(toJson).toList());
        if (items.size() > limit)
            body.put("next", context.cursors().cursorAfter(request, cursorKey.apply(items.get(limit - 1))));
        return ApiResponse.ok(body);
    }

    /** Returns the database time, the default end of a time range. */
    Instant now() {
        return context.transactions().now();
    }

    /** Returns a budget for all searches of one request for planned instants. */
    SearchBudget searchBudget() {
        return SearchBudget.of(MAX_SEARCH_STEPS, MAX_SEARCH_TIME);
    }

    Optional<String> cursor(ApiRequest request) {
        return context.cursors().lastItem(request);
    }

    ServerContext context() {
        return context;
    }
}
