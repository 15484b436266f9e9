package io.carillon.server.api;

import io.carillon.CarillonException;
import io.carillon.Project;
import io.carillon.internal.value.Names;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.run.RunState;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.workflow.WorkflowType;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Reads the filters of a list of runs. */
final class RunFilterParser {
    private static final List<String> NOT_WITH_KEY = List.of(
            "cursor",
            "queue",
            "notQueue",
            "notHandler",
            "state",
            "notState",
            "schedule",
            "from",
            "to",
            "workflow",
            "stuck",
            "error",
            "payload",
            "parent");

    private final ApiRequest request;
    private RunQuery query;

    private RunFilterParser(ApiRequest request) {
        this.request = request;
        boolean stuck = request.wordParameter("stuck", List.of("true", "false"))
                .filter("true"::equals)
                .isPresent();
        if (stuck && request.query("error").isPresent())
            throw ApiRequest.invalidParameter(
                    "error", "The parameter stuck searches in errors. Leave one of them out.");
        this.query = stuck ? RunQuery.stuckWorkflows(filter(request)) : RunQuery.of(filter(request));
    }

    static RunQuery query(ApiRequest request) {
        RunFilterParser parser = new RunFilterParser(request);
        parser.add("notQueue", RunQuery::notQueue);
        parser.add("notHandler", RunQuery::notHandler);
        parser.add("error", RunQuery::error);
        parser.add("payload", RunQuery::payload);
        parser.addInstant("from", RunQuery::from);
        parser.addInstant("to", RunQuery::to);
        if (request.wordParameter("workflow", List.of("true", "false"))
                .filter("true"::equals)
                .isPresent()) parser.query = parser.query.workflow(true);
        Optional<String> notState = request.wordParameter("notState", states());
        if (request.query("payload").isPresent()) requireManage(request);
        if (parser.query.payload() != null || parser.query.error() != null)
            request.caller()
                    .limits()
                    .requireSearch(
                            parser.query.filter().queue(), parser.query.filter().handler());
        return notState.isPresent() ? parser.query.notState(RunState.of(notState.get())) : parser.query;
    }

    /** Returns what finds the runs that the request names by a unique key or by their parent; empty if it does not. */
    static Optional<Function<Project, List<Run>>> named(ApiRequest request) {
        Optional<String> key = request.query("key");
        return key.isPresent()
                ? key.map(value -> byKey(request, value))
                : request.query("parent").map(parent -> childrenOf(request, parent));
    }

    /** Returns what finds the run that has the unique key of the request, or had it and still holds it. */
    private static Function<Project, List<Run>> byKey(ApiRequest request, String key) {
        String handler = request.query("handler")
                .orElseThrow(() -> ApiRequest.invalidParameter(
                        "handler", "A unique key belongs to a handler: the parameter key needs the handler."));
        for (String other : NOT_WITH_KEY)
            if (request.query(other).isPresent())
                throw ApiRequest.invalidParameter(
                        other, "Beside the parameter key, only handler is allowed. Leave this out.");
        checked("key", () -> Names.checkKey("key", key));
        WorkflowType<Object> type = checked("handler", () -> WorkflowType.of(handler, Object.class));
        return project -> project.workflow(type, key).get().stream().toList();
    }

    /** Returns what finds the children of a workflow. */
    private static Function<Project, List<Run>> childrenOf(ApiRequest request, String parent) {
        for (String other : NOT_WITH_KEY)
            if (!other.equals("parent") && request.query(other).isPresent())
                throw ApiRequest.invalidParameter(other, "The parameter parent stands alone. Leave this out.");
        RunId workflow = checked("parent", () -> RunId.parse(parent));
        return project -> project.runs().children(workflow);
    }

    /** A search shows what a payload contains, which runs do not show to readers. */
    private static void requireManage(ApiRequest request) {
        if (!request.caller().hasPermission(Permission.MANAGE))
            throw Problem.of(
                    403,
                    "forbidden",
                    "A search in payloads needs one of the scopes admin, manage. Leave out the parameter payload, or"
                            + " use another key.");
    }

    private static RunFilter filter(ApiRequest request) {
        RunFilter filter = RunFilter.all().limit(request.limit());
        for (String name : new String[] {"queue", "handler"}) {
            Optional<String> value = request.query(name);
            RunFilter before = filter;
            if (value.isPresent())
                filter = checked(
                        name, () -> name.equals("queue") ? before.queue(value.get()) : before.handler(value.get()));
        }
        Optional<String> state = request.wordParameter("state", states());
        return state.isPresent() ? filter.state(RunState.of(state.get())) : filter;
    }

    private void add(String name, BiFunction<RunQuery, String, RunQuery> setter) {
        Optional<String> value = request.query(name);
        RunQuery before = query;
        if (value.isPresent()) query = checked(name, () -> setter.apply(before, value.get()));
    }

    private void addInstant(String name, BiFunction<RunQuery, Instant, RunQuery> setter) {
        Optional<Instant> value = request.instant(name);
        RunQuery before = query;
        if (value.isPresent()) query = checked(name, () -> setter.apply(before, value.get()));
    }

    private static <T> T checked(String name, java.util.function.Supplier<T> value) {
        try {
            return value.get();
        } catch (CarillonException wrong) {
            throw ApiRequest.invalidParameter(name, String.valueOf(wrong.getMessage()));
        }
    }

    static List<String> states() {
        return java.util.Arrays.stream(RunState.values()).map(RunState::text).toList();
    }
}
