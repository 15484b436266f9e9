package io.carillon.server.api;

import io.carillon.CarillonException;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.reads.ScheduleLock;
import io.carillon.internal.postgres.reads.ScheduleLock.Existing;
import io.carillon.internal.value.Names;
import io.carillon.run.Payload;
import io.carillon.schedule.NewSchedule;
import io.carillon.schedule.ScheduleChange;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.server.api.RequestExecutor.RequestTransaction;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.ErrorMapping;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.KeyLimits;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.AuditRepository;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The route that creates or changes many schedules in one transaction. Each schedule has its own result: a rejected
 * schedule does not stop the others.
 */
final class ScheduleBatchRoute {
    private static final int MAX_SCHEDULES = 1_000;

    private final RequestExecutor executor;
    private final QuotaCheck quotaCheck;

    ScheduleBatchRoute(RequestExecutor executor, QuotaCheck quotaCheck) {
        this.executor = executor;
        this.quotaCheck = quotaCheck;
    }

    Route route() {
        return Route.post("/v1/schedules:batch", Permission.MANAGE, this::putAll);
    }

    /** A valid definition. */
    private record ValidSchedule(String name, TargetRequest target, NewSchedule schedule, List<String> warnings) {}

    private ApiResponse putAll(ApiRequest request) {
        JsonFields body = request.fields();
        List<JsonFields> items = body.required("schedules", body.objects("schedules"));
        body.refuseUnknown();
        if (items.isEmpty() || items.size() > MAX_SCHEDULES)
            throw Problem.invalid("/schedules", "This must have between 1 and %d items.".formatted(MAX_SCHEDULES));
        Map<String, JsonFields> byName = byName(items);
        Map<String, Problem> invalid = new HashMap<>();
        List<ValidSchedule> wanted = new ArrayList<>();
        byName.forEach((name, fields) ->
                orProblem(name, invalid, () -> parse(request, name, fields)).ifPresent(wanted::add));
        // All transactions lock schedules in the order of their names.
        wanted.sort(Comparator.comparing(ValidSchedule::name));
        return executor.changeMany(request, transaction -> {
            Map<String, Problem> rejected = new HashMap<>(invalid);
            Batch batch = new Batch(request, transaction, rejected);
            Map<String, ScheduleChange> changes = batch.store(wanted);
            batch.audit(wanted, changes);
            Map<String, JsonObject> results = new HashMap<>();
            for (ValidSchedule one : wanted)
                Optional.ofNullable(changes.get(one.name()))
                        .ifPresent(change -> results.put(one.name(), toJson(one, change)));
            rejected.forEach((name, problem) -> results.put(name, toJson(name, problem, request)));
            return ApiResponse.ok(new JsonObject()
                    .put("items", byName.keySet().stream().map(results::get).toList()));
        });
    }

    private static Map<String, JsonFields> byName(List<JsonFields> items) {
        Map<String, JsonFields> byName = new LinkedHashMap<>();
        for (int i = 0; i < items.size(); i++) {
            JsonFields fields = items.get(i);
            String given = fields.required("name", fields.text("name"));
            String name = fields.convert("name", () -> Names.check("schedule", given));
            if (byName.putIfAbsent(name, fields.fromHere()) != null)
                throw Problem.invalid(
                        "/schedules/%d/name".formatted(i),
                        "Two schedules are named \"%s\". Schedule names must be unique.".formatted(name));
        }
        return byName;
    }

    /** Returns the value; empty if the schedule is rejected, which is added to the problems. */
    private static <T> Optional<T> orProblem(String name, Map<String, Problem> problems, Supplier<T> value) {
        try {
            return Optional.of(value.get());
        } catch (Problem | CarillonException failure) {
            Problem problem = ErrorMapping.toProblem(failure);
            // After a failed statement, the transaction cannot go on.
            if (problem.status() >= 500 || failure instanceof StorageException) throw failure;
            problems.put(name, problem);
            return Optional.empty();
        }
    }

    private ValidSchedule parse(ApiRequest request, String name, JsonFields fields) {
        When when = ScheduleParser.when(fields);
        TargetRequest target = ScheduleParser.target(fields).ofSchedule(name);
        Payload payload = target.payload(fields);
        ScheduleOptions options = target.withQueue(ScheduleParser.options(fields));
        fields.refuseUnknown();
        target.checkRestriction(request.caller().limits(), options.queue());
        return new ValidSchedule(
                name,
                target,
                NewSchedule.of(name, when, target.target(), payload).options(options),
                executor.warnings(target.target()));
    }

    /** The batch in its transaction. */
    private final class Batch {
        private final RequestTransaction transaction;
        private final ApiRequest request;
        private final KeyLimits limits;
        private final Map<String, Problem> rejected;

        Batch(ApiRequest request, RequestTransaction transaction, Map<String, Problem> rejected) {
            this.request = request;
            this.transaction = transaction;
            this.limits = request.caller().limits();
            this.rejected = rejected;
        }

        Map<String, ScheduleChange> store(List<ValidSchedule> wanted) throws SQLException {
            Map<String, Existing> existing = ScheduleLock.find(
                    transaction.session(),
                    transaction.project().name(),
                    wanted.stream().map(ValidSchedule::name).toList(),
                    limits.isRestricted());
            Map<String, ScheduleChange> changes = upsert(accept(wanted, existing));
            changes.forEach((name, change) -> {
                // The key saw no schedule when it was checked.
                if (limits.isRestricted() && !existing.containsKey(name) && !(change instanceof ScheduleChange.Created))
                    throw ScheduleRoutes.createdMeanwhile();
            });
            return changes;
        }

        private List<ValidSchedule> accept(List<ValidSchedule> wanted, Map<String, Existing> existing)
                throws SQLException {
            TargetRequest.WebhookRules rules = new TargetRequest.WebhookRules(executor, transaction);
            long remaining = quotaCheck.remainingSchedules(transaction);
            List<ValidSchedule> accepted = new ArrayList<>();
            for (ValidSchedule one : wanted) {
                Existing before = existing.get(one.name());
                try {
                    if (before != null) limits.require(before.queue(), before.target());
                    one.target().checkAllowed(rules);
                    if (before == null && remaining-- <= 0) throw quotaCheck.tooManySchedules(transaction);
                    accepted.add(one);
                } catch (Problem problem) {
                    rejected.put(one.name(), problem);
                }
            }
            return accepted;
        }

        /** Stores all schedules together; if one of them is rejected, each by itself. */
        private Map<String, ScheduleChange> upsert(List<ValidSchedule> accepted) throws SQLException {
            if (accepted.isEmpty()) return Map.of();
            Connection connection = transaction.session().connection();
            Savepoint before = connection.setSavepoint();
            List<ScheduleChange> changes = new ArrayList<>();
            try {
                changes.addAll(transaction
                        .project()
                        .schedules()
                        .upsertAll(
                                accepted.stream().map(ValidSchedule::schedule).toList()));
            } catch (StorageException failure) {
                throw failure;
            } catch (CarillonException refused) {
                connection.rollback(before);
                for (ValidSchedule one : accepted)
                    orProblem(one.name(), rejected, () -> upsertOne(one)).ifPresent(changes::add);
            }
            connection.releaseSavepoint(before);
            Map<String, ScheduleChange> byName = new HashMap<>();
            changes.forEach(change -> byName.put(change.schedule().name(), change));
            return byName;
        }

        private ScheduleChange upsertOne(ValidSchedule one) {
            return transaction
                    .project()
                    .schedules()
                    .upsertAll(List.of(one.schedule()))
                    .get(0);
        }

        void audit(List<ValidSchedule> wanted, Map<String, ScheduleChange> changes) throws SQLException {
            List<AuditRepository.Change> entries = new ArrayList<>();
            for (ValidSchedule one : wanted) {
                ScheduleChange change = changes.get(one.name());
                if (change == null) continue;
                ObjectNode detail = JsonNodeFactory.instance
                        .objectNode()
                        .put("change", word(change))
                        .put("target", one.target().auditObject());
                entries.add(RequestExecutor.auditEntry(request, "schedule.put", "schedule/" + one.name(), detail));
            }
            if (!entries.isEmpty())
                executor.context()
                        .repositories()
                        .audit()
                        .write(transaction.session(), transaction.project().name(), entries);
        }
    }

    private static JsonObject toJson(ValidSchedule wanted, ScheduleChange change) {
        List<String> warnings = new ArrayList<>(change.warnings());
        warnings.addAll(wanted.warnings());
        return new JsonObject()
                .put("name", wanted.name())
                .put("change", word(change))
                .put("version", change.schedule().version())
                .put("warnings", JsonResponses.warnings(warnings));
    }

    private static JsonObject toJson(String name, Problem problem, ApiRequest request) {
        return new JsonObject().put("name", name).put("error", problem.toJson(request.requestId()));
    }

    private static String word(ScheduleChange change) {
        return change.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }
}
