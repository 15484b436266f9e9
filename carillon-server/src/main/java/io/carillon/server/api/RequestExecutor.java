package io.carillon.server.api;

import io.carillon.Project;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.value.TextCleaner;
import io.carillon.run.Target;
import io.carillon.schedule.SearchBudget;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonObject;
import io.carillon.server.request.CurrentCaller;
import io.carillon.server.request.IdempotentRequest;
import io.carillon.server.request.LiveHandlers;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.IdempotencyRepository;
import io.carillon.server.store.IdempotencyRepository.StoredResponse;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Executes each request in one transaction of the caller's project. The change, its audit entry and, with an
 * Idempotency-Key, the stored response commit together. Nodes are notified after the commit.
 */
public final class RequestExecutor {
    private static final String LOCK_TIMEOUT = "55P03";
    /** Enough for the secrets or restrictions of a request; a reason is shorter. */
    private static final int MAX_AUDIT_DETAIL = 4_000;
    /** Enough for a thousand runs in any time zone, or for 90 schedules with a thousand excluded dates each. */
    private static final long MAX_SEARCH_STEPS = 100_000;

    private static final Duration MAX_SEARCH_TIME = Duration.ofSeconds(2);

    private final ServerContext context;
    private final LiveHandlers liveHandlers;

    public RequestExecutor(ServerContext context) {
        this.context = context;
        this.liveHandlers = new LiveHandlers(context.carillon());
    }

    /** Returns a warning if runs with this target would wait because no live node has its handler. */
    public List<String> warnings(Target target) {
        return liveHandlers.warnings(target);
    }

    /** The transaction of a request, and the project's API within it. */
    public record RequestTransaction(Project project, Session session, ObjectNode auditDetail) {
        /** Adds a detail to the audit entry, cut at 4,000 characters. It must not contain a secret. */
        public void addAuditDetail(String name, String value) {
            auditDetail.put(name, TextCleaner.clean(value, MAX_AUDIT_DETAIL));
        }
    }

    /** The code of a request. */
    @FunctionalInterface
    public interface RequestAction<T> {
        T run(RequestTransaction requestTransaction) throws SQLException;
    }

    /** Runs code that only reads, in one transaction of the caller's project. */
    public <T> T read(ApiRequest request, RequestAction<T> action) {
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
    public ApiResponse change(
            ApiRequest request, String action, String object, RequestAction<ApiResponse> requestAction) {
        return changeMany(request, transaction -> {
            ApiResponse done = requestAction.run(transaction);
            audit(request, transaction.session(), action, object, transaction.auditDetail());
            return done;
        });
    }

    /** Like {@link #change}, but the action writes the audit entries. */
    ApiResponse changeMany(ApiRequest request, RequestAction<ApiResponse> requestAction) {
        String project = request.caller().project();
        Project projectApi = context.carillon().project(project);
        List<Runnable> hints = new ArrayList<>();
        ApiResponse response = context.transactions().runInProject(project, session -> {
            hints.clear();
            return runIdempotent(
                    request,
                    session,
                    () -> requestAction.run(new RequestTransaction(
                            projectApi.in(session.connection(), hints::add),
                            session,
                            JsonNodeFactory.instance.objectNode())));
        });
        hints.forEach(Runnable::run);
        return response;
    }

    /** Returns the caller with the rights that it has now, for a request that gives access to others. */
    Caller currentCaller(ApiRequest request, Session session) throws SQLException {
        return new CurrentCaller(
                        context.repositories().keys(), context.repositories().members())
                .of(request, session);
    }

    void audit(ApiRequest request, Session session, String action, String object, ObjectNode detail)
            throws SQLException {
        context.repositories()
                .audit()
                .write(session, request.caller().project(), auditEntry(request, action, object, detail));
    }

    /** Returns the audit entry of a request. */
    static AuditRepository.Change auditEntry(ApiRequest request, String action, String object, ObjectNode detail) {
        return new AuditRepository.Change(
                request.caller().actor(),
                action,
                object,
                new String(Json.bytes(detail), StandardCharsets.UTF_8),
                request.requestId());
    }

    private interface IdempotentAction {
        ApiResponse run() throws SQLException;
    }

    /** Runs the action once per Idempotency-Key; a repeated request receives the stored response. */
    private ApiResponse runIdempotent(ApiRequest apiRequest, Session session, IdempotentAction idempotentAction)
            throws SQLException {
        Optional<IdempotentRequest> given = IdempotentRequest.of(apiRequest);
        if (given.isEmpty()) return idempotentAction.run();
        IdempotentRequest request = given.get();
        String project = apiRequest.caller().project();
        IdempotencyRepository answers = context.repositories().idempotency();
        if (!reserveKey(answers, session, project, request)) {
            StoredResponse stored =
                    answers.get(session, project, List.of(request.key())).get(request.key());
            if (stored == null) throw IdempotentRequest.inFlight();
            return request.replay(stored);
        }
        ApiResponse response = idempotentAction.run();
        answers.save(session, project, Map.of(request.key(), request.toStore(response)));
        return response;
    }

    private static boolean reserveKey(
            IdempotencyRepository answers, Session session, String project, IdempotentRequest request)
            throws SQLException {
        try {
            return !answers.reserve(session, project, Map.of(request.key(), request.hash()))
                    .isEmpty();
        } catch (SQLException failure) {
            if (LOCK_TIMEOUT.equals(failure.getSQLState())) throw IdempotentRequest.inFlight();
            throw failure;
        }
    }

    /**
     * Returns one page of a list, with the cursor of the next page if there is one. The caller passes up to {@code
     * limit + 1} items.
     */
    public <T> ApiResponse page(
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

    /** Returns one page of a list whose items were chosen already; {@code last} is the position of the next page. */
    ApiResponse page(ApiRequest request, Stream<JsonObject> items, Optional<String> last) {
        return ApiResponse.ok(new JsonObject()
                .put("items", items.toList())
                .put(
                        "next",
                        last.map(item -> context.cursors().cursorAfter(request, item))
                                .orElse(null)));
    }

    /** Returns the database time, the default end of a time range. */
    Instant now() {
        return context.transactions().now();
    }

    /** Returns a budget for all searches of one request for planned instants. */
    SearchBudget searchBudget() {
        return SearchBudget.of(MAX_SEARCH_STEPS, MAX_SEARCH_TIME);
    }

    public Optional<String> cursor(ApiRequest request) {
        return context.cursors().lastItem(request);
    }

    public ServerContext context() {
        return context;
    }
}
