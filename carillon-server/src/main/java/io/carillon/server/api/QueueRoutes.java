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
import io.carillon.store.LaneInfo;
import java.util.List;
import java.util.Optional;

/** Queues and figures. */
final class QueueRoutes {
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
