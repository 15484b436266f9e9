package io.carillon.server.api;

import io.carillon.Project;
import io.carillon.run.CompletionToken;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Json;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.AuditRepository;
import io.carillon.webhook.Delivery;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.regex.Pattern;

/** Webhooks by hand: a test, a run's message once more; and the receiver that calls back. Nothing is sent inside a transaction. */
final class WebhookRoutes {
    /** Each may hold a thread of the server for a minute. */
    private static final int AT_A_TIME = 16;

    /** Requests end after half a minute, however patient a webhook is. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9_-]{43}");

    private final Deeds deeds;
    private final Webhooks sender;
    private final Semaphore room = new Semaphore(AT_A_TIME);

    WebhookRoutes(Deeds deeds) {
        this.deeds = deeds;
        this.sender = deeds.house().webhooks().sender();
    }

    List<Route> routes() {
        return List.of(
                Route.post("/v1/webhooks/test", Permission.MANAGE, this::test),
                Route.post("/v1/runs/{id}/replay", Permission.MANAGE, this::replay),
                Route.post("/v1/runs/{id}/complete", Permission.PUBLIC, this::complete));
    }

    private Answer test(Call call) {
        refuseReplay(call);
        Fields body = call.fields();
        Wanted wanted = ScheduleForm.target(body);
        WebhookTarget target =
                wanted.webhook().orElseThrow(() -> Problem.invalid("/target/url", "This field is required."));
        Optional<WebhookTarget> filled = WebhookForm.stored(wanted.payload(body).bytes());
        body.done();
        deeds.read(call, desk -> {
            wanted.check(deeds, desk);
            return true;
        });
        String project = call.caller().project();
        Delivery delivery = sent(() -> sender.test(project, soon(filled.orElse(target))));
        return told(call, "webhook.test", wanted.object(), delivery);
    }

    /** Sends what a run sent, under the run's id, and leaves the run alone. */
    private Answer replay(Call call) {
        refuseReplay(call);
        call.optionalFields().done();
        WebhookTarget target = deeds.read(call, desk -> {
            Run run = RunRoutes.there(desk, call);
            if (!WebhookForm.isOne(run.target()))
                throw Problem.of(
                        409,
                        "not-a-webhook",
                        "Only runs that call a webhook can be replayed. Redrive it if it is dead.");
            return deeds.house()
                    .webhooks()
                    .runs()
                    .sent(desk.connection(), desk.project().name(), run.id().value())
                    .flatMap(WebhookForm::stored)
                    .orElseThrow(
                            () -> Problem.of(
                                    409,
                                    "payload-gone",
                                    "What this run sent is not kept any more: it was cancelled, redriven, or ended before it was kept."));
        });
        RunId run = RunRoutes.id(call);
        Delivery delivery = sent(() -> sender.replay(call.caller().project(), run, soon(target)));
        return told(call, "run.replay", "run/" + run, delivery);
    }

    private static WebhookTarget soon(WebhookTarget target) {
        WebhookTarget.Timeouts timeouts = target.timeouts();
        return timeouts.total().compareTo(PATIENCE) <= 0 ? target : target.timeouts(PATIENCE, timeouts.connect());
    }

    private interface Sending {
        Delivery send() throws InterruptedException;
    }

    private Delivery sent(Sending sending) {
        if (!room.tryAcquire())
            throw Problem.of(429, "too-many-sends", "Too many webhooks are being sent by hand. Try again in a moment.")
                    .header("Retry-After", "5");
        try {
            return sending.send();
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            throw Problem.of(503, "unavailable", "The server is stopping. Ask another one.")
                    .header("Retry-After", "2");
        } finally {
            room.release();
        }
    }

    private Answer told(Call call, String action, String object, Delivery delivery) {
        return deeds.change(call, action, object, desk -> {
            desk.note("verdict", Fields.wordOf(delivery.verdict()));
            return Answer.ok(Shapes.delivery(delivery));
        });
    }

    private static void refuseReplay(Call call) {
        if (call.header("Idempotency-Key").isPresent())
            throw Problem.of(400, "invalid-header", "What is sent cannot be taken back: each request sends once more.")
                    .at("Idempotency-Key", "Leave it out here.");
    }

    /** The receiver of a webhook has no key; the token of its attempt opens this one thing, once. Whatever is wrong, the answer is the same. */
    private Answer complete(Call call) {
        Fields body = call.fields();
        int attempt = body.required("attempt", body.integer("attempt"));
        String token = body.required("token", body.text("token"));
        Optional<String> error = body.text("error");
        body.done();
        RunId run = RunRoutes.id(call);
        // What cannot be one does not trouble the database: anybody may call this.
        if (!TOKEN.matcher(token).matches()) throw nobodyAwaits();
        String project = deeds.house()
                .webhooks()
                .runs()
                .awaiting(run.value(), CompletionToken.digest(token))
                .orElseThrow(WebhookRoutes::nobodyAwaits);
        Project door = deeds.house().carillon().project(project);
        List<Runnable> hints = new ArrayList<>();
        deeds.house().transactions().in(project, connection -> {
            hints.clear();
            Project inside = door.in(connection, hints::add);
            boolean recorded = error.isPresent()
                    ? inside.runs().fail(run, attempt, token, error.get())
                    : inside.runs().complete(run, attempt, token);
            if (!recorded) throw nobodyAwaits();
            deeds.house()
                    .tables()
                    .audit()
                    .write(
                            connection,
                            project,
                            new AuditRepository.Change(
                                    "callback",
                                    error.isPresent() ? "run.fail" : "run.complete",
                                    "run/" + run,
                                    Json.text(new Doc().put("attempt", attempt)),
                                    call.requestId()));
            return true;
        });
        hints.forEach(Runnable::run);
        return Answer.ok(new Doc().put("recorded", true));
    }

    private static Problem nobodyAwaits() {
        return Problem.of(
                404,
                "not-awaited",
                "Nobody waits for this: the token is not that of the attempt, the time is over, or it was said before.");
    }
}
