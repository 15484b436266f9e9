package io.carillon.server.api;

import io.carillon.Carillon;
import io.carillon.NodeInfo;
import io.carillon.RunDueResult;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.value.Names;
import io.carillon.internal.value.PublicId;
import io.carillon.server.access.NewKeyLimits;
import io.carillon.server.access.PlaintextApiKey;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Caller;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.KeyLimits;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.request.IdempotentRequest;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.ProjectRepository;
import io.carillon.server.store.Role;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Operations on the whole server, for keys of the project {@code default}: projects with their quotas, nodes, and
 * running due runs for an external cron.
 */
final class ProjectRoutes {
    private final RequestExecutor executor;
    private final ProjectRepository projects;
    private final NewKeyLimits keyLimits;

    ProjectRoutes(RequestExecutor executor, NewKeyLimits keyLimits) {
        this.executor = executor;
        this.keyLimits = keyLimits;
        this.projects = executor.context().repositories().projects();
    }

    List<Route> routes() {
        return List.of(
                Route.get("/v1/projects", Permission.ANY, this::list).withQuery("limit", "cursor"),
                Route.post("/v1/projects", Permission.ADMIN, this::create),
                Route.get("/v1/projects/{name}", Permission.READ, this::get),
                Route.put("/v1/projects/{name}/quota", Permission.ADMIN, this::updateQuota),
                Route.put("/v1/projects/{name}/settings", Permission.ADMIN, this::updateSettings),
                Route.get("/v1/nodes", Permission.ADMIN, this::nodes),
                Route.post("/v1/run-due", Permission.MANAGE, this::runDue));
    }

    /** Lists the projects that the caller may read: all for admins of the server, otherwise its own. */
    private ApiResponse list(ApiRequest request) {
        Caller caller = request.caller();
        int limit = request.limit();
        String after = executor.cursor(request).orElse("");
        Caller.SessionUser user = caller.user();
        List<ProjectRepository.StoredProject> found;
        if (isServerAdmin(caller)) found = projects.list(after, limit + 1);
        else if (user != null) found = projects.listOfUser(user.id(), after, limit + 1);
        else found = projects.find(caller.project()).stream().toList();
        return executor.page(request, found, limit, ProjectRoutes::toJson, ProjectRepository.StoredProject::name);
    }

    private static JsonObject toJson(ProjectRepository.StoredProject project) {
        ProjectRepository.Quota quota = project.quota();
        ProjectRepository.Owner owner = project.owner();
        return new JsonObject()
                .put("id", PublicId.format("prj", project.id()))
                .put("name", project.name())
                .put("owner", owner == null ? null : PublicId.format(Caller.USER_ID_PREFIX, owner.user()))
                .put("ownerName", owner == null ? null : owner.name())
                .put("createdAt", project.createdAt())
                .put("allowAdHocUrls", project.adHocUrls())
                .put(
                        "quota",
                        new JsonObject()
                                .put("requestsPerSecond", quota.requestsPerSecond())
                                .put("maxSchedules", quota.maxSchedules())
                                .put("maxWaiting", quota.maxWaiting())
                                .put("maxBulkActions", quota.maxBulkActions())
                                .put("maxStreams", quota.maxStreams())
                                .put("maxEndpoints", quota.maxEndpoints())
                                .put("maxSubscriptions", quota.maxSubscriptions()));
    }

    /**
     * Returns a project. Every caller may read its own project; admins of the project {@code default} may read all.
     */
    private ApiResponse get(ApiRequest request) {
        String name = ownOrAdministered(request);
        return projects.runAsServer(session ->
                ApiResponse.ok(toJson(projects.get(session, name).orElseThrow(() -> Problem.notFound("project")))));
    }

    /** Returns the project in the path if the caller belongs to it or administers the server; otherwise throws 404. */
    private static String ownOrAdministered(ApiRequest request) {
        String name = request.pathName("name");
        if (!name.equals(request.caller().project()) && !isServerAdmin(request.caller()))
            throw Problem.notFound("project");
        return name;
    }

    private static boolean isServerAdmin(Caller caller) {
        return caller.project().equals(Caller.ADMIN_PROJECT) && caller.hasPermission(Permission.ADMIN);
    }

    /** Creates a project and its first key, which is shown once. The owner, if there is one, is its first admin. */
    private ApiResponse create(ApiRequest request) {
        request.caller().requireServerAdmin();
        IdempotentRequest.refuseKey(request);
        JsonFields body = request.fields();
        String name = body.required("name", body.text("name"));
        Optional<UUID> named = owner(body);
        body.refuseUnknown();
        body.convert("name", () -> Names.check("project", name));
        Caller.SessionUser creator = request.caller().user();
        Optional<UUID> owner = named.or(() -> Optional.ofNullable(creator).map(Caller.SessionUser::id));
        return projects.runAsServer(session -> {
            if (!projects.insert(session, name))
                throw Problem.of(409, "project-exists", "A project of this name already exists. Choose another name.");
            Caller caller = executor.currentCaller(request, session);
            if (owner.isPresent()) makeOwner(request, session, name, owner.get());
            PlaintextApiKey key = executor.context().keyIssuer().generate();
            executor.context()
                    .repositories()
                    .keys()
                    .insert(
                            session,
                            name,
                            new ApiKeyRepository.NewKey(
                                    key.id(),
                                    key.hash(),
                                    "first",
                                    List.of("admin"),
                                    caller.actor(),
                                    // The owner of a project is elsewhere than its creator.
                                    KeyLimits.until(keyLimits
                                            .ofNew(NewKeyLimits.Requested.nothing(), caller, executor.now())
                                            .expiresAt())));
            executor.audit(
                    request,
                    session,
                    "project.make",
                    "project/" + name,
                    JsonNodeFactory.instance
                            .objectNode()
                            .put("key", key.id())
                            .put("scopes", "admin")
                            .put(
                                    "owner",
                                    owner.map(id -> PublicId.format(Caller.USER_ID_PREFIX, id))
                                            .orElse(null)));
            return ApiResponse.json(
                            201,
                            toJson(projects.get(session, name).orElseThrow()).put("key", key.text()))
                    .withLocation("/v1/projects/" + name);
        });
    }

    private static Optional<UUID> owner(JsonFields body) {
        return body.publicId("owner", Caller.USER_ID_PREFIX);
    }

    /** An owner is an admin of the project. */
    private void makeOwner(ApiRequest request, Session session, String project, UUID owner) throws SQLException {
        ServerContext.Repositories repositories = executor.context().repositories();
        if (!repositories.users().keep(session, owner))
            throw Problem.invalid(
                    "/owner", "There is no user with this id. Users see their ids after their first login.");
        repositories
                .members()
                .insert(session, project, owner, Role.ADMIN, request.caller().actor());
        repositories.members().updateRole(session, project, owner, Role.ADMIN);
        projects.updateOwner(session, project, owner);
    }

    private ApiResponse updateQuota(ApiRequest request) {
        request.caller().requireServerAdmin();
        JsonFields body = request.fields();
        Optional<Double> requests = body.decimal("requestsPerSecond");
        Optional<Integer> schedules = body.integer("maxSchedules");
        Optional<Long> waiting = body.number("maxWaiting");
        Optional<Integer> bulkActions = body.integer("maxBulkActions");
        Optional<Integer> streams = body.integer("maxStreams");
        Optional<Integer> endpoints = body.integer("maxEndpoints");
        Optional<Integer> subscriptions = body.integer("maxSubscriptions");
        body.refuseUnknown();
        if (requests.filter(rate -> rate < 0.01 || rate > 1_000_000).isPresent())
            throw Problem.invalid("/requestsPerSecond", "This must be between 0.01 and 1000000.");
        requireNotNegative("/maxSchedules", schedules);
        requireNotNegative("/maxBulkActions", bulkActions);
        requireNotNegative("/maxStreams", streams);
        requireNotNegative("/maxEndpoints", endpoints);
        requireNotNegative("/maxSubscriptions", subscriptions);
        if (waiting.filter(most -> most < 0 || most > 1_000_000_000).isPresent())
            throw Problem.invalid("/maxWaiting", "This must be between 0 and 1000000000.");
        String name = request.pathName("name");
        return projects.runAsServer(session -> {
            ProjectRepository.Quota quota = new ProjectRepository.Quota(
                    requests.orElse(null),
                    schedules.orElse(null),
                    waiting.orElse(null),
                    bulkActions.orElse(null),
                    streams.orElse(null),
                    endpoints.orElse(null),
                    subscriptions.orElse(null));
            if (!projects.updateQuota(session, name, quota)) throw Problem.notFound("project");
            executor.audit(
                    request,
                    session,
                    "project.quota",
                    "project/" + name,
                    JsonNodeFactory.instance.objectNode().put("quota", quota.toString()));
            return ApiResponse.ok(toJson(projects.get(session, name).orElseThrow()));
        });
    }

    private static void requireNotNegative(String pointer, Optional<Integer> most) {
        if (most.filter(number -> number < 0).isPresent()) throw Problem.invalid(pointer, "This must be 0 or more.");
    }

    /** Changes the settings that the admins of a project decide. A setting that is left out stays. */
    private ApiResponse updateSettings(ApiRequest request) {
        String name = ownOrAdministered(request);
        JsonFields body = request.fields();
        Optional<Boolean> adHocUrls = body.flag("allowAdHocUrls");
        Optional<UUID> owner = owner(body);
        body.refuseUnknown();
        return projects.runAsServer(session -> {
            if (owner.isPresent()) {
                if (!projects.lock(session, name)) throw Problem.notFound("project");
                executor.currentCaller(request, session);
                makeOwner(request, session, name, owner.get());
            }
            if (adHocUrls.isPresent()) projects.updateAdHocUrls(session, name, adHocUrls.get());
            ProjectRepository.StoredProject project =
                    projects.get(session, name).orElseThrow(() -> Problem.notFound("project"));
            executor.audit(
                    request,
                    session,
                    "project.settings",
                    "project/" + name,
                    JsonNodeFactory.instance
                            .objectNode()
                            .put("allowAdHocUrls", project.adHocUrls())
                            .put(
                                    "owner",
                                    owner.map(id -> PublicId.format(Caller.USER_ID_PREFIX, id))
                                            .orElse(null)));
            return ApiResponse.ok(toJson(project));
        });
    }

    private ApiResponse nodes(ApiRequest request) {
        request.caller().requireServerAdmin();
        return nodes(executor.context().carillon());
    }

    /** Returns the nodes, which execute the runs of all projects. */
    static ApiResponse nodes(Carillon carillon) {
        List<NodeInfo> nodes = carillon.nodes();
        return ApiResponse.ok(new JsonObject()
                .put("items", nodes.stream().map(ProjectRoutes::toJson).toList()));
    }

    private static JsonObject toJson(NodeInfo node) {
        return new JsonObject()
                .put("id", PublicId.ofNode(node.id()))
                .put("name", node.name())
                .put("alive", node.alive())
                .put("startedAt", node.startedAt())
                .put("beatAt", node.lastHeartbeatAt())
                .put("busy", node.busy())
                .put("slots", node.slots())
                .put("host", node.host())
                .put("pid", node.pid())
                .put("version", node.version())
                .put("wakeup", node.wakeup())
                .put("handlers", node.handlers().stream().sorted().toList())
                .put("deadAt", node.deadAt())
                .put("deadWhy", node.deathReason());
    }

    /** Plans, claims and executes due runs on the thread of this request. */
    private ApiResponse runDue(ApiRequest request) {
        request.caller().requireServerAdmin();
        JsonFields body = request.optionalFields();
        Duration budget = body.duration("budget").orElse(Duration.ofSeconds(20));
        body.refuseUnknown();
        if (budget.compareTo(Duration.ofSeconds(25)) > 0)
            throw Problem.invalid("/budget", "This must be at most 25 seconds. Call the operation more often instead.");
        RunDueResult result =
                body.convert("budget", () -> executor.context().carillon().runDue(budget));
        projects.runAsServer(session -> {
            executor.audit(
                    request,
                    session,
                    "run-due",
                    "server",
                    JsonNodeFactory.instance
                            .objectNode()
                            .put("processed", result.processed())
                            .put("errors", result.errors()));
            return result;
        });
        return ApiResponse.ok(
                new JsonObject().put("processed", result.processed()).put("errors", result.errors()));
    }
}
