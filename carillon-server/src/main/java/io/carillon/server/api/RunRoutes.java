package io.carillon.server.api;

import io.carillon.run.Cancellation;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Explanation;
import io.carillon.run.Payload;
import io.carillon.run.Redrive;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunQuery;
import io.carillon.run.RunState;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.store.AttemptRecord;
import io.carillon.value.CarillonException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Runs: enqueue, look, cancel, redrive, move and explain. */
final class RunRoutes {
    private static final int BATCH = 1_000;

    private final Deeds deeds;
    private final Quotas quotas;

    RunRoutes(Deeds deeds, Quotas quotas) {
        this.deeds = deeds;
        this.quotas = quotas;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/runs", Permission.READ, this::list)
                        .with("limit", "cursor", "queue", "handler", "state", "schedule"),
                Route.post("/v1/runs", Permission.ENQUEUE, this::enqueue),
                Route.post("/v1/runs:batch", Permission.ENQUEUE, this::enqueueMany),
                Route.get("/v1/runs/{id}", Permission.READ, this::get),
                Route.get("/v1/runs/{id}/attempts", Permission.READ, this::attempts),
                Route.get("/v1/runs/{id}/explain", Permission.READ, this::explain),
                Route.post("/v1/runs/{id}/cancel", Permission.MANAGE, this::cancel),
                Route.post("/v1/runs/{id}/redrive", Permission.MANAGE, this::redrive),
                Route.post("/v1/runs/{id}/reschedule", Permission.MANAGE, this::reschedule));
    }

    /** What cannot be an id names nothing. */
    static RunId id(Call call) {
        try {
            return RunId.parse(call.value("id"));
        } catch (CarillonException malformed) {
            throw Problem.missing("run");
        }
    }

    static Run there(Deeds.Desk desk, Call call) {
        return desk.project().runs().get(id(call)).orElseThrow(() -> Problem.missing("run"));
    }

    private Answer list(Call call) {
        int limit = call.limit();
        RunFilter filter = filter(call).limit(limit + 1);
        Optional<String> behind = deeds.cursor(call);
        List<Run> found = deeds.read(call, desk -> {
            RunQuery query = RunQuery.of(filter);
            if (behind.isPresent()) query = query.before(RunId.parse(behind.get()));
            Optional<String> schedule = call.query("schedule");
            if (schedule.isPresent())
                query = query.schedule(desk.project()
                        .schedules()
                        .get(schedule.get())
                        .orElseThrow(() -> Problem.missing("schedule"))
                        .id()
                        .value());
            return desk.project().runs().page(query);
        });
        return deeds.page(call, found, limit, Shapes::run, run -> run.id().toString());
    }

    private static RunFilter filter(Call call) {
        RunFilter filter = RunFilter.all();
        try {
            if (call.query("queue").isPresent())
                filter = filter.queue(call.query("queue").get());
            if (call.query("handler").isPresent())
                filter = filter.handler(call.query("handler").get());
        } catch (CarillonException wrong) {
            throw Call.parameter("queue or handler", String.valueOf(wrong.getMessage()));
        }
        Optional<String> state = call.word("state", Shapes.states());
        return state.isPresent() ? filter.state(RunState.of(state.get())) : filter;
    }

    private Answer get(Call call) {
        return deeds.read(call, desk -> {
            Run run = there(desk, call);
            Doc shown = Shapes.run(run);
            // What a webhook calls is in its payload, which is kept longer than those of others.
            if (WebhookForm.isOne(run.target()))
                deeds.house()
                        .webhooks()
                        .runs()
                        .sent(desk.connection(), desk.project().name(), run.id().value())
                        .flatMap(WebhookForm::stored)
                        .ifPresent(target -> shown.put("target", WebhookForm.shown(target)));
            return Answer.ok(shown);
        });
    }

    private Answer attempts(Call call) {
        List<AttemptRecord> attempts = deeds.read(call, desk -> {
            there(desk, call);
            return desk.project().runs().attempts(id(call));
        });
        return Answer.ok(
                new Doc().put("items", attempts.stream().map(Shapes::attempt).toList()));
    }

    private Answer explain(Call call) {
        Explanation found = deeds.read(call, desk -> desk.project().runs().explain(id(call)))
                .orElseThrow(() -> Problem.missing("run"));
        return Answer.ok(new Doc()
                .put("state", found.state().text())
                .put("summary", found.summary())
                .put("holds", found.holds()));
    }

    private Answer enqueue(Call call) {
        Fields body = call.fields();
        Wanted wanted = ScheduleForm.target(body);
        Payload payload = wanted.payload(body);
        Enqueue options = EnqueueForm.options(body);
        body.done();
        return deeds.change(call, "run.enqueue", wanted.object(), desk -> {
            wanted.check(deeds, desk);
            quotas.waiting(desk, 1);
            EnqueueResult result = desk.project()
                    .enqueueAll(wanted.target(), List.of(payload), options)
                    .get(0);
            desk.note("run", result.run().toString());
            return Answer.json(result instanceof EnqueueResult.Enqueued ? 201 : 200, shown(result));
        });
    }

    private static Doc shown(EnqueueResult result) {
        return new Doc().put("run", result.run().toString()).put("enqueued", result instanceof EnqueueResult.Enqueued);
    }

    private Answer enqueueMany(Call call) {
        Fields body = call.fields();
        Wanted wanted = ScheduleForm.target(body);
        List<Fields> items = body.required("runs", body.objects("runs"));
        if (items.isEmpty() || items.size() > BATCH)
            throw Problem.invalid("/runs", "Send 1 to %d at a time.".formatted(BATCH));
        Enqueue options = EnqueueForm.options(body);
        List<Payload> payloads = new ArrayList<>();
        for (Fields item : items) {
            payloads.add(wanted.payload(item));
            item.done();
        }
        body.done();
        if (options.key() != null) throw Problem.invalid("/key", "A key is one run's. Leave it out.");
        return deeds.change(call, "run.enqueue", wanted.object(), desk -> {
            wanted.check(deeds, desk);
            quotas.waiting(desk, payloads.size());
            List<EnqueueResult> results = desk.project().enqueueAll(wanted.target(), payloads, options);
            desk.note("runs", Integer.toString(results.size()));
            return Answer.json(
                    201,
                    new Doc()
                            .put("items", results.stream().map(RunRoutes::shown).toList()));
        });
    }

    private Answer cancel(Call call) {
        Fields body = call.optionalFields();
        String reason =
                body.text("reason").orElse("cancelled by " + call.caller().actor());
        body.done();
        return deeds.change(call, "run.cancel", "run/" + id(call), desk -> {
            Cancellation answer = desk.project().runs().cancel(id(call), reason);
            if (answer instanceof Cancellation.Unknown) throw Problem.missing("run");
            if (answer instanceof Cancellation.AlreadyEnded ended)
                throw Problem.of(
                        409,
                        "run-ended",
                        "The run has ended already: %s. There is nothing to cancel."
                                .formatted(ended.state().text()));
            boolean now = answer instanceof Cancellation.Cancelled;
            return Answer.json(now ? 200 : 202, new Doc().put("state", now ? "cancelled" : "running"));
        });
    }

    private Answer redrive(Call call) {
        call.optionalFields().done();
        return deeds.change(call, "run.redrive", "run/" + id(call), desk -> {
            Run run = there(desk, call);
            Redrive answer = desk.project().runs().redrive(run.id());
            if (answer instanceof Redrive.Gone)
                throw Problem.of(
                        409,
                        "run-not-dead",
                        "The run is %s, or was redriven already: only dead runs can be."
                                .formatted(run.state().text()));
            if (answer instanceof Redrive.KeyTaken taken)
                throw Problem.of(
                        409,
                        "key-taken",
                        "Another run holds the key '%s' now. Wait until that has ended.".formatted(taken.key()));
            String fresh = ((Redrive.Redriven) answer).run().toString();
            desk.note("run", fresh);
            return Answer.json(201, new Doc().put("run", fresh));
        });
    }

    private Answer reschedule(Call call) {
        Fields body = call.fields();
        Instant due = body.required("at", body.instant("at"));
        body.done();
        return deeds.change(call, "run.reschedule", "run/" + id(call), desk -> {
            there(desk, call);
            boolean moved = body.making("at", () -> desk.project().runs().reschedule(id(call), due));
            if (!moved)
                throw Problem.of(
                        409,
                        "run-not-movable",
                        "Only a run that waits can be moved, and neither a planned one nor one behind a gate.");
            desk.note("at", due.toString());
            return Answer.ok(Shapes.run(there(desk, call)));
        });
    }
}
