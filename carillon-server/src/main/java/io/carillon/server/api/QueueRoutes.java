package io.carillon.server.api;

import io.carillon.Queues;
import io.carillon.run.Limits;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.store.BulkDeed;
import io.carillon.store.LaneInfo;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Queues, what is done to many runs at once, and figures. */
final class QueueRoutes {
    private static final int CHUNKS = 5;

    private final Deeds deeds;

    QueueRoutes(Deeds deeds) {
        this.deeds = deeds;
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/queues", Permission.READ, this::list),
                Route.get("/v1/queues/{name}", Permission.READ, this::get),
                Route.put("/v1/queues/{name}/limits", Permission.MANAGE, this::limit),
                Route.put("/v1/queues/{name}/weight", Permission.MANAGE, this::weigh),
                Route.post("/v1/queues/{name}/pause", Permission.MANAGE, this::pause),
                Route.post("/v1/queues/{name}/resume", Permission.MANAGE, this::resume),
                Route.post("/v1/bulk-actions", Permission.MANAGE, this::bulk),
                Route.get("/v1/stats", Permission.READ, this::stats));
    }

    private Answer list(Call call) {
        List<LaneInfo> queues = deeds.read(call, desk -> desk.project().queues().list());
        return Answer.ok(
                new Doc().put("items", queues.stream().map(Shapes::queue).toList()));
    }

    private Answer get(Call call) {
        return Answer.ok(Shapes.queue(deeds.read(call, desk -> there(desk, call))));
    }

    private static LaneInfo there(Deeds.Desk desk, Call call) {
        String name = call.name("name");
        return desk.project().queues().list().stream()
                .filter(lane -> lane.lane().queue().equals(name))
                .findFirst()
                .orElseThrow(() -> Problem.missing("queue"));
    }

    private Answer limit(Call call) {
        Fields body = call.fields();
        Optional<Integer> running = body.integer("maxRunning");
        Optional<Double> rate = body.real("perSecond");
        body.done();
        Limits limits = body.making("maxRunning", () -> new Limits(running.orElse(null), rate.orElse(null)));
        return deeds.change(call, "queue.limit", "queue/" + call.value("name"), desk -> {
            desk.project().queues().limit(call.value("name"), limits);
            desk.note("limits", limits.toString());
            return Answer.ok(Shapes.queue(there(desk, call)));
        });
    }

    private Answer weigh(Call call) {
        Fields body = call.fields();
        int weight = body.required("weight", body.integer("weight"));
        body.done();
        return deeds.change(call, "queue.weigh", "queue/" + call.value("name"), desk -> {
            Queues queues = desk.project().queues();
            body.making("weight", () -> {
                queues.weigh(call.value("name"), weight);
                return weight;
            });
            desk.note("weight", Integer.toString(weight));
            return Answer.ok(Shapes.queue(there(desk, call)));
        });
    }

    private Answer pause(Call call) {
        Fields body = call.optionalFields();
        Optional<String> reason = body.text("reason");
        body.done();
        return deeds.change(call, "queue.pause", "queue/" + call.value("name"), desk -> {
            desk.project().queues().pause(call.value("name"), call.caller().actor(), reason.orElse(null));
            return Answer.ok(Shapes.queue(there(desk, call)));
        });
    }

    private Answer resume(Call call) {
        call.optionalFields().done();
        return deeds.change(call, "queue.resume", "queue/" + call.value("name"), desk -> {
            there(desk, call);
            desk.project().queues().resume(call.value("name"));
            return Answer.ok(Shapes.queue(there(desk, call)));
        });
    }

    /** The verbs of bulk actions. */
    private enum Verb {
        CANCEL,
        REDRIVE,
        DELETE,
        RESCHEDULE
    }

    /** Some thousands at a time, in one transaction: whoever wants all of them asks until there are no more, and may stop at any time. */
    private Answer bulk(Call call) {
        Fields body = call.fields();
        Verb verb = body.required("action", body.word("action", Verb.class));
        Fields form = body.required("filter", body.object("filter"));
        RunState state = form.required("state", form.word("state", RunState.class));
        RunFilter filter = RunFilter.all().state(state);
        Optional<String> queue = form.text("queue");
        Optional<String> handler = form.text("handler");
        form.done();
        RunFilter inQueue = filter;
        if (queue.isPresent()) filter = form.making("queue", () -> inQueue.queue(queue.get()));
        RunFilter ofHandler = filter;
        if (handler.isPresent()) filter = form.making("handler", () -> ofHandler.handler(handler.get()));
        Optional<Instant> at = body.instant("at");
        boolean dry = body.flag("dryRun").orElse(false);
        body.done();
        if (at.isPresent() != (verb == Verb.RESCHEDULE))
            throw Problem.invalid("/at", "This is required to reschedule, and no part of anything else.");
        RunFilter wanted = filter;
        BulkDeed deed = deed(verb, at.orElse(Instant.EPOCH), call.caller().actor());
        return deeds.change(call, "bulk." + Fields.wordOf(verb), "runs/" + state.text(), desk -> {
            long matching = body.making(
                    "filter",
                    () -> desk.project().runs().bulk(wanted).checked(deed).count());
            long done = 0;
            boolean more = !dry;
            for (int chunk = 0; chunk < CHUNKS && more; chunk++) {
                int changed = desk.project().runs().bulk(wanted).chunk(deed);
                done += changed;
                more = changed > 0;
            }
            desk.note("filter", wanted.toString());
            desk.note("done", Long.toString(done));
            return Answer.ok(new Doc()
                    .put("matching", matching)
                    .put("done", done)
                    .put("more", more)
                    .put("dryRun", dry));
        });
    }

    private static BulkDeed deed(Verb verb, Instant at, String actor) {
        return switch (verb) {
            case CANCEL -> new BulkDeed.Cancel("cancelled by " + actor);
            case REDRIVE -> new BulkDeed.Redrive();
            case DELETE -> new BulkDeed.Delete();
            case RESCHEDULE -> new BulkDeed.Reschedule(at);
        };
    }

    /** Counts of what is alive and of what is dead; history is not counted. */
    private Answer stats(Call call) {
        return deeds.read(call, desk -> {
            List<LaneInfo> queues = desk.project().queues().list();
            return Answer.ok(new Doc()
                    .put("waiting", queues.stream().mapToLong(LaneInfo::waiting).sum())
                    .put("running", queues.stream().mapToLong(LaneInfo::running).sum())
                    .put(
                            "dead",
                            desk.project()
                                    .runs()
                                    .bulk(RunFilter.all().state(RunState.DEAD))
                                    .count())
                    .put(
                            "quarantined",
                            desk.project()
                                    .runs()
                                    .bulk(RunFilter.all().state(RunState.QUARANTINED))
                                    .count())
                    .put("queues", queues.stream().map(Shapes::queue).toList()));
        });
    }
}
