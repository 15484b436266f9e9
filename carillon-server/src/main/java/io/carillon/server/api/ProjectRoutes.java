package io.carillon.server.api;

import io.carillon.TickResult;
import io.carillon.server.access.KeyText;
import io.carillon.server.http.Answer;
import io.carillon.server.http.Call;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Doc;
import io.carillon.server.http.Fields;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.HouseRepository;
import io.carillon.server.store.KeyRepository;
import io.carillon.store.NodeView;
import io.carillon.value.Names;
import io.carillon.value.PublicId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.JsonNodeFactory;

/** What concerns the whole house: projects with their quotas, nodes, and the tick of an external cron. For keys of the project {@code default}. */
final class ProjectRoutes {
    private final Deeds deeds;
    private final HouseRepository projects;

    ProjectRoutes(Deeds deeds) {
        this.deeds = deeds;
        this.projects = deeds.house().tables().projects();
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/projects", Permission.ADMIN, this::list).with("limit", "cursor"),
                Route.post("/v1/projects", Permission.ADMIN, this::make),
                Route.get("/v1/projects/{name}", Permission.READ, this::get),
                Route.put("/v1/projects/{name}/quota", Permission.ADMIN, this::limit),
                Route.get("/v1/nodes", Permission.READ, this::nodes),
                Route.post("/v1/tick", Permission.MANAGE, this::tick));
    }

    private Answer list(Call call) {
        call.caller().mustKeepHouse();
        int limit = call.limit();
        List<HouseRepository.Kept> found = projects.list(deeds.cursor(call).orElse(""), limit + 1);
        return deeds.page(call, found, limit, ProjectRoutes::shown, HouseRepository.Kept::name);
    }

    private static Doc shown(HouseRepository.Kept project) {
        HouseRepository.Quota quota = project.quota();
        return new Doc()
                .put("name", project.name())
                .put("owner", project.owner())
                .put("createdAt", project.createdAt())
                .put(
                        "quota",
                        new Doc()
                                .put("requestsPerSecond", quota.requestsPerSecond())
                                .put("maxSchedules", quota.schedules())
                                .put("maxWaiting", quota.waiting()));
    }

    /** Everybody may look at their own. */
    private Answer get(Call call) {
        String name = call.name("name");
        if (!name.equals(call.caller().project())
                && !(call.caller().project().equals(Caller.HOUSE)
                        && call.caller().may(Permission.ADMIN))) throw Problem.missing("project");
        return projects.keeping(connection ->
                Answer.ok(shown(projects.get(connection, name).orElseThrow(() -> Problem.missing("project")))));
    }

    /** A project with its first key, which is shown once. */
    private Answer make(Call call) {
        call.caller().mustKeepHouse();
        Deeds.refuseReplay(call);
        Fields body = call.fields();
        String name = body.required("name", body.text("name"));
        Optional<String> owner = body.text("owner");
        body.done();
        body.making("name", () -> Names.check("project", name));
        if (owner.filter(text -> text.length() > 200).isPresent())
            throw Problem.invalid("/owner", "Use at most 200 characters.");
        return projects.keeping(connection -> {
            if (!projects.insert(connection, name, owner.orElse(null)))
                throw Problem.of(409, "project-exists", "There is a project of this name already. Choose another.");
            KeyText key = KeyText.fresh();
            deeds.house()
                    .tables()
                    .keys()
                    .insert(
                            connection,
                            name,
                            new KeyRepository.NewKey(
                                    key.id(),
                                    key.hash(),
                                    "first",
                                    List.of("admin"),
                                    call.caller().actor(),
                                    null));
            deeds.audit(
                    call,
                    connection,
                    "project.make",
                    "project/" + name,
                    JsonNodeFactory.instance.objectNode().put("key", key.id()));
            return Answer.json(
                    201, shown(projects.get(connection, name).orElseThrow()).put("key", key.text()));
        });
    }

    private Answer limit(Call call) {
        call.caller().mustKeepHouse();
        Fields body = call.fields();
        Optional<Double> requests = body.real("requestsPerSecond");
        Optional<Integer> schedules = body.integer("maxSchedules");
        Optional<Long> waiting = body.number("maxWaiting");
        body.done();
        if (requests.filter(rate -> rate < 0.01 || rate > 1_000_000).isPresent())
            throw Problem.invalid("/requestsPerSecond", "Use 0.01 to 1000000.");
        if (schedules.filter(most -> most < 0).isPresent()) throw Problem.invalid("/maxSchedules", "Use 0 or more.");
        if (waiting.filter(most -> most < 0 || most > 1_000_000_000).isPresent())
            throw Problem.invalid("/maxWaiting", "Use 0 to a billion.");
        String name = call.name("name");
        return projects.keeping(connection -> {
            HouseRepository.Quota quota =
                    new HouseRepository.Quota(requests.orElse(null), schedules.orElse(null), waiting.orElse(null));
            if (!projects.limit(connection, name, quota)) throw Problem.missing("project");
            deeds.audit(
                    call,
                    connection,
                    "project.quota",
                    "project/" + name,
                    JsonNodeFactory.instance.objectNode().put("quota", quota.toString()));
            return Answer.ok(shown(projects.get(connection, name).orElseThrow()));
        });
    }

    private Answer nodes(Call call) {
        call.caller().mustKeepHouse();
        List<NodeView> nodes = deeds.house().carillon().nodes();
        return Answer.ok(
                new Doc().put("items", nodes.stream().map(ProjectRoutes::shown).toList()));
    }

    private static Doc shown(NodeView node) {
        return new Doc()
                .put("id", PublicId.format("nod", node.info().id()))
                .put("name", node.info().name())
                .put("alive", node.alive())
                .put("startedAt", node.startedAt())
                .put("beatAt", node.beatAt())
                .put("busy", node.busy())
                .put("slots", node.info().slots())
                .put("host", node.info().host())
                .put("pid", node.info().pid())
                .put("version", node.info().version())
                .put("wakeup", node.info().wakeup())
                .put("handlers", node.info().handlers().stream().sorted().toList())
                .put("deadAt", node.deadAt())
                .put("deadWhy", node.deadWhy());
    }

    /** Plans, claims and executes on the thread of this request. */
    private Answer tick(Call call) {
        call.caller().mustKeepHouse();
        Fields body = call.optionalFields();
        Duration budget = body.duration("budget").orElse(Duration.ofSeconds(20));
        body.done();
        if (budget.compareTo(Duration.ofSeconds(25)) > 0)
            throw Problem.invalid("/budget", "A request may last 25 seconds. Tick more often.");
        TickResult result = body.making("budget", () -> deeds.house().carillon().tick(budget));
        return Answer.ok(new Doc().put("processed", result.processed()).put("errors", result.errors()));
    }
}
