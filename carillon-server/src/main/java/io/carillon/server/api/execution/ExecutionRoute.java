package io.carillon.server.api.execution;

import io.carillon.CarillonException;
import io.carillon.run.RunId;
import io.carillon.server.api.RequestExecutor;
import io.carillon.server.api.ServerContext;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.request.IdempotentRequest;
import io.carillon.spi.ExecuteResult;
import io.carillon.webhook.hosts.ProjectShares;
import java.util.List;

/** The route that executes a run on the thread of the request. */
public final class ExecutionRoute {
    /** The number of executions of all projects. Each occupies a thread of the server until its handler returns. */
    private static final int MAX_EXECUTIONS = 16;

    private final ServerContext context;
    private final RequestExecutor executor;
    private final ProjectShares places = new ProjectShares(MAX_EXECUTIONS);

    public ExecutionRoute(ServerContext context) {
        this.context = context;
        this.executor = new RequestExecutor(context);
    }

    public List<Route> routes() {
        return List.of(Route.post("/v1/runs/{id}/execute", Permission.MANAGE, this::execute));
    }

    private ApiResponse execute(ApiRequest request) {
        IdempotentRequest.refuseKey(request, "A run is not executed twice, so the response is not stored.");
        request.optionalFields().refuseUnknown();
        RunId run = id(request);
        executor.read(
                request,
                transaction -> transaction
                        .project()
                        .runs()
                        .get(run)
                        .filter(found -> request.caller()
                                .limits()
                                .allows(found.queue(), found.target().name()))
                        .orElseThrow(() -> Problem.notFound("run")));
        ExecuteResult result = executeLimited(request, run);
        JsonObject shown = toJson(result);
        return result instanceof ExecuteResult.Executed
                ? executor.change(request, "run.execute", "run/" + run, transaction -> ApiResponse.ok(shown))
                : ApiResponse.ok(shown);
    }

    private static RunId id(ApiRequest request) {
        try {
            return RunId.parse(request.pathValue("id"));
        } catch (CarillonException malformed) {
            throw Problem.notFound("run");
        }
    }

    /** Executes within the share of the project. Its other requests do not wait for the handler. */
    private ExecuteResult executeLimited(ApiRequest request, RunId run) {
        String project = request.caller().project();
        request.turn().end();
        if (!places.tryAcquire(project))
            throw Problem.of(
                            429,
                            "too-many-attempts",
                            "Too many runs of this project are executed by requests. Try again later.")
                    .withHeader("Retry-After", "5");
        try {
            return context.carillon().execute(project, run);
        } finally {
            places.release(project);
        }
    }

    private static JsonObject toJson(ExecuteResult result) {
        if (result instanceof ExecuteResult.Executed executed)
            return new JsonObject()
                    .put("result", "executed")
                    .put("failed", executed.failed())
                    .put("state", executed.run().state().text())
                    .put("attempt", executed.run().attempt())
                    .put("readyAt", executed.run().instants().readyAt());
        if (result instanceof ExecuteResult.NotDue notDue)
            return new JsonObject().put("result", "not-due").put("readyAt", notDue.readyAt());
        if (result instanceof ExecuteResult.NotReady notReady)
            return new JsonObject().put("result", "not-ready").put("reason", notReady.reason());
        if (result instanceof ExecuteResult.Running running)
            return new JsonObject().put("result", "running").put("attempt", running.attempt());
        if (result instanceof ExecuteResult.Ended ended)
            return new JsonObject()
                    .put("result", "ended")
                    .put("state", ended.state().text());
        // The history of the run was removed meanwhile.
        throw Problem.notFound("run");
    }
}
