package io.carillon.server.api;

import io.carillon.Project;
import io.carillon.internal.jdbc.GroupCommit;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.server.api.EnqueueParser.SignalRequest;
import io.carillon.server.api.RequestExecutor.RequestTransaction;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.ErrorMapping;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Problem;
import io.carillon.server.request.IdempotentRequest;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.IdempotencyRepository;
import io.carillon.server.store.IdempotencyRepository.StoredResponse;
import io.carillon.server.store.Transactions.TimeLimits;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Enqueues the runs of requests with one run each. Requests of one project that wait at the same time share a
 * transaction; a request that is alone does not wait. In a shared transaction a request may be answered or rejected by
 * itself. If the transaction fails as a whole and changed nothing, or would wait for a lock for long, each request
 * runs again in a transaction of its own, on its own thread.
 *
 * <p>All transactions take their locks in one order: idempotency keys by name, endpoints by name, unique keys by name.
 */
final class RunEnqueuer {
    /** More at a time would only divide the group: while one commits, the next group gathers. */
    private static final int SHARED_TRANSACTIONS = 1;
    /** A project whose requests wait for locks leaves connections to the other projects. */
    private static final int TRANSACTIONS_ALONE = 8;

    /** How long a request waits to join a group, or else for a transaction of its own. */
    private static final Duration MAX_WAIT = Duration.ofSeconds(2);
    /** A request that waits for a lock must not delay the others for long. */
    private static final TimeLimits SHARED_LIMITS = new TimeLimits("2s", "100ms");

    private static final int MAX_PROJECTS = 10_000;
    private static final String LOCK_TIMEOUT = "55P03";

    private final RequestExecutor executor;
    private final QuotaCheck quotaCheck;
    private final Map<String, ProjectGroup> groups = new ConcurrentHashMap<>();

    RunEnqueuer(RequestExecutor executor, QuotaCheck quotaCheck) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
    }

    /**
     * A parsed request.
     *
     * @param signal the signal that is sent to the run, or to the one that has its unique key
     * @param shareable whether the run is stored without waiting for the order or the limit of a key
     */
    record EnqueueRequest(
            ApiRequest request,
            TargetRequest target,
            Project.PreparedRun run,
            Optional<SignalRequest> signal,
            boolean shareable,
            List<String> warnings,
            Optional<IdempotentRequest> idempotent) {
        static boolean isShareable(Enqueue options) {
            return options.keyLimit() == null && options.keyWindow() == null;
        }

        String project() {
            return request.caller().project();
        }
    }

    /** The result of a request in a transaction. */
    private sealed interface Answer {
        record Answered(ApiResponse response) implements Answer {}

        record Failed(RuntimeException failure) implements Answer {}

        /** Nothing was changed; the request needs a transaction of its own. */
        record Alone() implements Answer {}
    }

    ApiResponse enqueue(EnqueueRequest request) {
        ProjectGroup group = groupOf(request.project());
        Answer answer = new Answer.Alone();
        if (request.shareable()) {
            // Requests that wait for the shared transaction hold no turn: otherwise none could join it beside busy
            // projects, whose turns leave one request of this project at a time.
            request.request().turn().end();
            answer = group.shared().submit(request, MAX_WAIT).orElse(answer);
        }
        if (answer instanceof Answer.Alone) {
            request.request().turn().take();
            answer = storeAlone(group, request);
        }
        if (answer instanceof Answer.Failed failed) throw failed.failure();
        return ((Answer.Answered) answer).response();
    }

    /** The transactions of a project: the shared ones, and the permits for others. */
    private record ProjectGroup(GroupCommit<EnqueueRequest, Answer> shared, Semaphore alone) {}

    private ProjectGroup groupOf(String project) {
        if (groups.size() > MAX_PROJECTS) groups.clear();
        return groups.computeIfAbsent(
                project,
                name -> new ProjectGroup(
                        new GroupCommit<>(SHARED_TRANSACTIONS, requests -> storeShared(requests)),
                        new Semaphore(TRANSACTIONS_ALONE)));
    }

    private List<Answer> storeShared(List<EnqueueRequest> requests) {
        try {
            return store(requests, true);
        } catch (StorageException failure) {
            // After any other failure the commit may have happened, or would fail again.
            boolean alone = failure.isRowError() || failure.isTimeout() || failure.isRetryable();
            return Collections.nCopies(requests.size(), alone ? new Answer.Alone() : new Answer.Failed(failure));
        }
    }

    private Answer storeAlone(ProjectGroup group, EnqueueRequest request) {
        try {
            if (!group.alone().tryAcquire(MAX_WAIT.toMillis(), TimeUnit.MILLISECONDS))
                throw ErrorMapping.enqueuesBusy(TRANSACTIONS_ALONE);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            throw ErrorMapping.enqueuesBusy(TRANSACTIONS_ALONE);
        }
        try {
            return store(List.of(request), false).get(0);
        } finally {
            group.alone().release();
        }
    }

    private List<Answer> store(List<EnqueueRequest> requests, boolean shared) {
        String project = requests.get(0).project();
        Project projectApi = executor.context().carillon().project(project);
        List<Runnable> hints = new ArrayList<>();
        List<Answer> answers = executor.context()
                .transactions()
                .runInProject(project, shared ? SHARED_LIMITS : TimeLimits.OF_REQUEST, session -> {
                    hints.clear();
                    RequestTransaction transaction = new RequestTransaction(
                            projectApi.in(session.connection(), hints::add),
                            session,
                            JsonNodeFactory.instance.objectNode());
                    return new EnqueueTransaction(transaction, shared).run(requests);
                });
        hints.forEach(Runnable::run);
        return answers;
    }

    /** The work of one transaction. */
    private final class EnqueueTransaction {
        private final RequestTransaction transaction;
        private final Session session;
        private final String project;
        private final boolean shared;
        private final IdempotencyRepository responses =
                executor.context().repositories().idempotency();
        private final IdentityHashMap<EnqueueRequest, Answer> answers = new IdentityHashMap<>();

        EnqueueTransaction(RequestTransaction transaction, boolean shared) {
            this.transaction = transaction;
            this.session = transaction.session();
            this.project = transaction.project().name();
            this.shared = shared;
        }

        List<Answer> run(List<EnqueueRequest> requests) throws SQLException {
            List<EnqueueRequest> accepted = accept(reserveKeys(requests));
            if (!accepted.isEmpty()) storeRuns(accepted);
            return requests.stream().map(answers::get).toList();
        }

        /** Returns the requests to execute; the others are repetitions, which get the stored response. */
        private List<EnqueueRequest> reserveKeys(List<EnqueueRequest> requests) throws SQLException {
            List<EnqueueRequest> first = new ArrayList<>();
            Map<String, EnqueueRequest> byKey = new LinkedHashMap<>();
            for (EnqueueRequest request : requests) {
                if (request.idempotent().isEmpty()) first.add(request);
                else if (byKey.putIfAbsent(request.idempotent().get().key(), request) != null)
                    // Gets the response of the other one after the commit.
                    answers.put(request, new Answer.Alone());
            }
            if (byKey.isEmpty()) return first;
            Set<String> reserved = reserve(byKey);
            Map<String, EnqueueRequest> repeated = new LinkedHashMap<>(byKey);
            repeated.keySet().removeAll(reserved);
            if (!repeated.isEmpty()) replay(repeated);
            reserved.forEach(key -> first.add(byKey.get(key)));
            return first;
        }

        private Set<String> reserve(Map<String, EnqueueRequest> byKey) throws SQLException {
            Map<String, byte[]> hashes = new LinkedHashMap<>();
            byKey.forEach((key, request) ->
                    hashes.put(key, request.idempotent().orElseThrow().hash()));
            try {
                return responses.reserve(session, project, hashes);
            } catch (SQLException failure) {
                if (!shared && LOCK_TIMEOUT.equals(failure.getSQLState())) throw IdempotentRequest.inFlight();
                throw failure;
            }
        }

        private void replay(Map<String, EnqueueRequest> repeated) throws SQLException {
            Map<String, StoredResponse> stored = responses.get(session, project, repeated.keySet());
            repeated.forEach((key, request) -> answers.put(request, answerOf(() -> {
                StoredResponse response = stored.get(key);
                if (response == null) throw IdempotentRequest.inFlight();
                return request.idempotent().orElseThrow().replay(response);
            })));
        }

        private static Answer answerOf(Supplier<ApiResponse> response) {
            try {
                return new Answer.Answered(response.get());
            } catch (Problem problem) {
                return new Answer.Failed(problem);
            }
        }

        /** Returns the requests that webhook rules and quota allow. A rejected request does not use up its key. */
        private List<EnqueueRequest> accept(List<EnqueueRequest> requests) throws SQLException {
            TargetRequest.WebhookRules rules = new TargetRequest.WebhookRules(executor, transaction);
            List<EnqueueRequest> accepted = new ArrayList<>();
            List<String> unused = new ArrayList<>();
            List<EnqueueRequest> inLockOrder = requests.stream()
                    .sorted(Comparator.comparing(request -> request.target().auditObject()))
                    .toList();
            for (EnqueueRequest request : inLockOrder) {
                try {
                    request.target().checkAllowed(rules);
                    quotaCheck.checkRuns(transaction, request.target(), 1);
                    accepted.add(request);
                } catch (Problem problem) {
                    answers.put(request, new Answer.Failed(problem));
                    request.idempotent().ifPresent(repeatable -> unused.add(repeatable.key()));
                }
            }
            if (!unused.isEmpty()) responses.release(session, project, unused);
            return accepted;
        }

        private void storeRuns(List<EnqueueRequest> requests) throws SQLException {
            List<EnqueueResult> results = transaction
                    .project()
                    .enqueuePrepared(requests.stream().map(EnqueueRequest::run).toList());
            Map<RunId, Run> current = read(results);
            List<AuditRepository.Change> changes = new ArrayList<>();
            Map<String, StoredResponse> repeatable = new HashMap<>();
            for (int i = 0; i < requests.size(); i++) {
                EnqueueRequest request = requests.get(i);
                EnqueueResult result = results.get(i);
                Optional<Run> now = Optional.ofNullable(current.get(result.run()));
                Optional<String> sent = request.signal().map(signal -> send(request, signal, result.run(), now));
                ApiResponse response = response(request, result, now, sent);
                answers.put(request, new Answer.Answered(response));
                changes.add(auditEntry(request, result.run()));
                request.idempotent().ifPresent(key -> repeatable.put(key.key(), key.toStore(response)));
            }
            executor.context().repositories().audit().write(session, project, changes);
            if (!repeatable.isEmpty()) responses.save(session, project, repeatable);
        }

        private String send(EnqueueRequest request, SignalRequest signal, RunId run, Optional<Run> current) {
            boolean visible = current.filter(existing -> RunRoutes.isVisible(request.request(), existing))
                    .isPresent();
            if (!visible) throw Problem.notFound("run");
            return signal.send(transaction.project().workflow(run));
        }

        private Map<RunId, Run> read(Collection<EnqueueResult> results) {
            Set<RunId> ids = results.stream().map(EnqueueResult::run).collect(Collectors.toSet());
            return transaction.project().runs().get(ids).stream()
                    .collect(Collectors.toMap(Run::id, Function.identity()));
        }
    }

    private static AuditRepository.Change auditEntry(EnqueueRequest request, RunId run) {
        ObjectNode detail = JsonNodeFactory.instance.objectNode().put("run", run.toString());
        return RequestExecutor.auditEntry(
                request.request(), "run.enqueue", request.target().auditObject(), detail);
    }

    private static ApiResponse response(
            EnqueueRequest request, EnqueueResult result, Optional<Run> current, Optional<String> sent) {
        JsonObject made = RunRoutes.toJson(result).put("warnings", JsonResponses.warnings(request.warnings()));
        // The run of a unique key may have ended long ago, or belong to a queue that the caller may not see.
        current.filter(run -> RunRoutes.isVisible(request.request(), run))
                .ifPresent(run -> made.put("current", JsonResponses.run(run)));
        sent.ifPresent(signal -> made.put("signal", signal));
        return result instanceof EnqueueResult.Enqueued
                ? ApiResponse.json(201, made).withLocation(RunRoutes.path(result.run()))
                : ApiResponse.ok(made);
    }
}
