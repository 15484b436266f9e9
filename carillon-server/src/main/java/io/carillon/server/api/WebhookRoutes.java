package io.carillon.server.api;

import io.carillon.Project;
import io.carillon.run.CallbackToken;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.server.endpoint.WebhookTargetJson;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.AuditRepository;
import io.carillon.webhook.Delivery;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import io.carillon.webhook.hosts.ProjectShares;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Routes to test a webhook, to send the message of a run again, and for the callback of a receiver. No route sends
 * inside a transaction.
 */
final class WebhookRoutes {
    /** The number of tests and replays of all projects. Each may occupy a thread of the server for up to 20 seconds. */
    private static final int MAX_CONCURRENT_SENDS = 16;

    private static final Pattern CALLBACK_TOKEN = Pattern.compile("[A-Za-z0-9_-]{43}");

    private final RequestExecutor executor;
    private final Webhooks sender;
    private final ProjectShares sendPlaces = new ProjectShares(MAX_CONCURRENT_SENDS);

    WebhookRoutes(RequestExecutor executor) {
        this.executor = executor;
        this.sender = executor.context().requireWebhooks().sender();
    }

    List<Route> routes() {
        return List.of(
                Route.post("/v1/webhooks/test", Permission.MANAGE, this::test),
                Route.post("/v1/runs/{id}/replay", Permission.MANAGE, this::replay),
                Route.post("/v1/runs/{id}/complete", Permission.PUBLIC, this::complete));
    }

    private ApiResponse test(ApiRequest request) {
        refuseIdempotencyKey(request);
        JsonFields body = request.fields();
        TargetRequest targetRequest = ScheduleParser.target(body);
        WebhookTarget target = targetRequest
                .webhook()
                .orElseThrow(() -> Problem.invalid("/target", "An endpoint or a url is required."));
        request.caller().limits().requireEndpoint(target.endpoint());
        Optional<WebhookTarget> filled =
                WebhookTargetJson.fromPayload(targetRequest.payload(body).bytes());
        body.refuseUnknown();
        executor.read(request, transaction -> {
            targetRequest.checkAllowed(new TargetRequest.WebhookRules(executor, transaction));
            return true;
        });
        String project = request.caller().project();
        Delivery delivery = sendLimited(request, () -> sender.test(project, filled.orElse(target)));
        return auditAndRespond(request, "webhook.test", targetRequest.auditObject(), delivery);
    }

    /** Sends the message of a run again, with the id of the run. The run does not change. */
    private ApiResponse replay(ApiRequest request) {
        refuseIdempotencyKey(request);
        request.optionalFields().refuseUnknown();
        WebhookTarget target = executor.read(request, transaction -> {
            Run run = RunRoutes.requireRun(transaction, request);
            if (!WebhookTargetJson.isWebhook(run.target()))
                throw Problem.of(
                        409, "not-a-webhook", "Only webhook runs can be replayed. Redrive the run if it is dead.");
            return executor.context()
                    .requireWebhooks()
                    .runs()
                    .payloadOf(
                            transaction.session(),
                            transaction.project().name(),
                            run.id().value())
                    .flatMap(WebhookTargetJson::fromPayload)
                    .orElseThrow(() -> Problem.of(
                            409,
                            "payload-gone",
                            "The payload of this run is not stored: the run was cancelled or redriven, or "
                                    + "ended before payloads were kept."));
        });
        RunId run = RunRoutes.id(request);
        String project = request.caller().project();
        Delivery delivery = sendLimited(request, () -> sender.replay(project, run, target));
        return auditAndRespond(request, "run.replay", "run/" + run, delivery);
    }

    private interface SendAction {
        Delivery send() throws InterruptedException;
    }

    /**
     * Sends within the share of the project: tests to slow receivers must not prevent those of other projects. Requests
     * of the project do not wait for the receiver, but a message that is not sent, because the project has used up a
     * resource, costs a turn as any other request does.
     */
    private Delivery sendLimited(ApiRequest request, SendAction sendAction) {
        String project = request.caller().project();
        request.turn().end();
        if (!sendPlaces.tryAcquire(project))
            throw Problem.of(
                            429,
                            "too-many-sends",
                            "Too many tests and replays of this project are in progress. Try again later.")
                    .withHeader("Retry-After", "5");
        try {
            return sendAction.send();
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            throw Problem.of(503, "unavailable", "The server is shutting down. Try again; another server may respond.")
                    .withHeader("Retry-After", "2");
        } finally {
            sendPlaces.release(project);
        }
    }

    private ApiResponse auditAndRespond(ApiRequest request, String action, String object, Delivery delivery) {
        return executor.change(request, action, object, transaction -> {
            transaction.addAuditDetail("verdict", JsonFields.enumText(delivery.verdict()));
            return ApiResponse.ok(JsonResponses.delivery(delivery));
        });
    }

    private static void refuseIdempotencyKey(ApiRequest request) {
        if (request.header("Idempotency-Key").isPresent())
            throw Problem.of(
                            400,
                            "invalid-header",
                            "Each request sends the webhook again. The field \"errors\" says where.")
                    .withFault("Idempotency-Key", "This operation does not accept the header. Leave it out.");
    }

    /**
     * Completes a run from the callback of its receiver. The receiver has no key: the callback token of the attempt
     * allows this operation once. Every failure has the same response, which reveals nothing.
     */
    private ApiResponse complete(ApiRequest request) {
        JsonFields body = request.fields();
        int attempt = body.required("attempt", body.integer("attempt"));
        String callbackToken = body.required("token", body.text("token"));
        Optional<String> error = body.text("error");
        body.refuseUnknown();
        RunId run = RunRoutes.id(request);
        // This route is public: a malformed token must not cause a database query.
        if (!CALLBACK_TOKEN.matcher(callbackToken).matches()) throw notAwaited();
        String project = executor.context()
                .requireWebhooks()
                .runs()
                .projectAwaiting(run.value(), CallbackToken.digest(callbackToken))
                .orElseThrow(WebhookRoutes::notAwaited);
        Project projectApi = executor.context().carillon().project(project);
        List<Runnable> hints = new ArrayList<>();
        executor.context().transactions().runInProject(project, session -> {
            hints.clear();
            Project inside = projectApi.in(session.connection(), hints::add);
            boolean recorded = error.isPresent()
                    ? inside.runs().fail(run, attempt, callbackToken, error.get())
                    : inside.runs().complete(run, attempt, callbackToken);
            if (!recorded) throw notAwaited();
            executor.context()
                    .repositories()
                    .audit()
                    .write(
                            session,
                            project,
                            new AuditRepository.Change(
                                    "callback",
                                    error.isPresent() ? "run.fail" : "run.complete",
                                    "run/" + run,
                                    Json.text(new JsonObject().put("attempt", attempt)),
                                    request.requestId()));
            return true;
        });
        hints.forEach(Runnable::run);
        return ApiResponse.ok(new JsonObject().put("recorded", true));
    }

    private static Problem notAwaited() {
        return Problem.of(
                404,
                "not-awaited",
                "The run does not wait for this callback: the token is wrong, the time has expired, or the result was "
                        + "already reported.");
    }
}
