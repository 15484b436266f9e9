package io.carillon.server.user;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.value.PublicId;
import io.carillon.internal.value.TextCleaner;
import io.carillon.server.access.Cursors;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.request.CurrentCaller;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.MemberRepository;
import io.carillon.server.store.MemberRepository.Member;
import io.carillon.server.store.ProjectRepository;
import io.carillon.server.store.Role;
import io.carillon.server.store.Transactions;
import io.carillon.server.store.UserRepository;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The members of the caller's project. Its admins add, change and remove them; each user may leave. */
public final class MemberRoutes {
    private static final int MAX_MEMBERS = 1_000;
    private static final int MAX_SUBJECT_LENGTH = 255;
    private static final UUID BEFORE_ALL = new UUID(0, 0);

    private final Transactions transactions;
    private final Stores stores;
    private final Cursors cursors;
    private final Optional<String> issuer;

    /** The repositories that these routes use. */
    public record Stores(
            UserRepository users,
            MemberRepository members,
            ProjectRepository projects,
            AuditRepository audit,
            CurrentCaller currentCaller) {}

    /**
     * Creates the routes.
     *
     * @param issuer the issuer of users who are added by their subject; empty if users cannot log in
     */
    public MemberRoutes(Transactions transactions, Stores stores, Cursors cursors, Optional<String> issuer) {
        this.transactions = transactions;
        this.stores = stores;
        this.cursors = cursors;
        this.issuer = issuer;
    }

    public List<Route> routes() {
        return List.of(
                Route.get("/v1/members", Permission.ADMIN, this::list).withQuery("limit", "cursor"),
                Route.post("/v1/members", Permission.ADMIN, this::add),
                Route.get("/v1/members/{id}", Permission.ADMIN, this::get),
                Route.put("/v1/members/{id}", Permission.ADMIN, this::change),
                Route.delete("/v1/members/{id}", Permission.READ, this::remove));
    }

    private ApiResponse list(ApiRequest request) {
        String project = request.caller().project();
        int limit = request.limit();
        UUID after = cursors.lastItem(request).map(UUID::fromString).orElse(BEFORE_ALL);
        List<Member> found = transactions.runInProject(
                project, session -> stores.members().list(session, project, after, limit + 1));
        JsonObject body = new JsonObject()
                .put(
                        "items",
                        found.stream().limit(limit).map(MemberRoutes::toJson).toList());
        if (found.size() > limit)
            body.put(
                    "next",
                    cursors.cursorAfter(
                            request, found.get(limit - 1).user().id().toString()));
        return ApiResponse.ok(body);
    }

    private ApiResponse get(ApiRequest request) {
        UUID user = userInPath(request);
        return ApiResponse.ok(toJson(
                transactions.runInProject(request.caller().project(), session -> member(session, request, user))));
    }

    private Member member(Session session, ApiRequest request, UUID user) throws SQLException {
        return stores.members()
                .get(session, request.caller().project(), user)
                .orElseThrow(() -> Problem.notFound("member"));
    }

    /** An admin could otherwise learn the name of any user by adding the user. */
    private static JsonObject toJson(Member member) {
        UserRepository.StoredUser user = member.user();
        JsonObject shown = new JsonObject()
                .put("id", PublicId.format(Caller.USER_ID_PREFIX, user.id()))
                .put("issuer", user.issuer())
                .put("subject", user.subject())
                .put("role", member.role().text())
                .put("addedAt", member.since())
                .put("addedBy", member.addedBy());
        if (member.usedAt() == null) return shown;
        return shown.put("name", user.name()).put("email", user.email()).put("loginAt", user.loginAt());
    }

    /**
     * Adds a user by the subject, who need not have logged in, or by the id that the user sees after a login. Users who
     * are no members may be read and created with the server's rights only.
     */
    private ApiResponse add(ApiRequest request) {
        JsonFields body = request.fields();
        Role role = role(body);
        Optional<String> subject = body.text("subject");
        Optional<UUID> id = body.publicId("user", Caller.USER_ID_PREFIX);
        body.refuseUnknown();
        if (subject.isPresent() == id.isPresent())
            throw Problem.invalid("", "Name the user by either \"subject\" or \"user\".");
        subject.ifPresent(this::checkSubject);
        return stores.users()
                .runAsServer(session -> write(session, request, "member.add", role, locked -> {
                    if (stores.members().count(session, locked.project(), MAX_MEMBERS) >= MAX_MEMBERS)
                        throw Problem.of(
                                409,
                                "too-many-members",
                                "The project has %d members, as many as a project may have.".formatted(MAX_MEMBERS));
                    UUID user = subject.isPresent()
                            ? stores.users().getOrInsert(session, issuer.orElseThrow(), subject.get())
                            : existing(session, id.orElseThrow());
                    if (!stores.members()
                            .insert(
                                    session,
                                    locked.project(),
                                    user,
                                    role,
                                    request.caller().actor()))
                        throw Problem.of(
                                409,
                                "member-exists",
                                "This user is a member of the project already. To change the role, use PUT"
                                        + " /v1/members/%s.".formatted(PublicId.format(Caller.USER_ID_PREFIX, user)));
                    return new Changed(
                            user,
                            ApiResponse.json(201, toJson(member(session, request, user)))
                                    .withLocation("/v1/members/" + PublicId.format(Caller.USER_ID_PREFIX, user)));
                }));
    }

    private static Role role(JsonFields body) {
        return body.required("role", body.enumValue("role", Role.class));
    }

    private void checkSubject(String subject) {
        if (subject.isEmpty() || subject.length() > MAX_SUBJECT_LENGTH || !TextCleaner.isClean(subject))
            throw Problem.invalid(
                    "/subject", "This must have between 1 and %d characters.".formatted(MAX_SUBJECT_LENGTH));
        if (issuer.isEmpty())
            throw Problem.invalid(
                    "/subject",
                    "This server has no identity provider, so it knows no subjects. Configure oidc.issuer.");
    }

    private UUID existing(Session session, UUID user) throws SQLException {
        if (!stores.users().keep(session, user))
            throw Problem.invalid(
                    "/user",
                    "There is no user with this id. Users see their ids after their first login; you can also name the"
                            + " subject.");
        return user;
    }

    private ApiResponse change(ApiRequest request) {
        JsonFields body = request.fields();
        Role role = role(body);
        body.refuseUnknown();
        UUID user = userInPath(request);
        String project = request.caller().project();
        return transactions.runInProject(
                project,
                session -> write(session, request, "member.change", role, locked -> {
                    if (role != Role.ADMIN) {
                        locked.requireNotOnlyAdmin(user);
                        requireNotOwner(session, project, user);
                    }
                    if (!stores.members().updateRole(session, project, user, role)) throw Problem.notFound("member");
                    return new Changed(user, ApiResponse.ok(toJson(member(session, request, user))));
                }));
    }

    /** Removes a member. Every user may leave; only admins remove others. */
    private ApiResponse remove(ApiRequest request) {
        UUID user = userInPath(request);
        Caller.SessionUser own = request.caller().user();
        boolean leaves = own != null && own.id().equals(user);
        if (!leaves) requireAdmin(request.caller());
        String project = request.caller().project();
        return transactions.runInProject(
                project,
                session -> write(session, request, "member.remove", null, locked -> {
                    if (!leaves) requireAdmin(locked.caller());
                    locked.requireNotOnlyAdmin(user);
                    requireNotOwner(session, project, user);
                    if (!stores.members().delete(session, project, user)) throw Problem.notFound("member");
                    return new Changed(user, ApiResponse.noContent());
                }));
    }

    private static void requireAdmin(Caller caller) {
        if (!caller.hasPermission(Permission.ADMIN))
            throw Problem.of(
                    403,
                    "forbidden",
                    "Only an admin of the project removes other members. With your own id, you leave the project.");
    }

    private static UUID userInPath(ApiRequest request) {
        return PublicId.parse(Caller.USER_ID_PREFIX, request.pathValue("id"));
    }

    /** A project whose members and owner stay the same until the transaction changes them. */
    private record Locked(String project, Set<UUID> admins, Caller caller) {
        void requireNotOnlyAdmin(UUID user) {
            if (caller.user() != null && admins.equals(Set.of(user))) throw lastAdmin();
        }
    }

    /** The user whose membership changed, and the response. */
    private record Changed(UUID user, ApiResponse response) {}

    /** A change of the members of a project. */
    @FunctionalInterface
    private interface MemberChange {
        Changed run(Locked locked) throws SQLException;
    }

    /**
     * Runs a change. The project is locked first, so that its owner and its admins stay the same until the end: a user
     * who becomes the owner meanwhile is not removed, and two admins who remove each other do not both succeed.
     *
     * @param role the new role; null if the user is removed
     */
    private ApiResponse write(
            Session session, ApiRequest request, String action, @Nullable Role role, MemberChange change)
            throws SQLException {
        String project = request.caller().project();
        if (!stores.projects().lock(session, project)) throw Problem.notFound("project");
        Set<UUID> admins = stores.members().lockAdmins(session, project);
        Caller caller = stores.currentCaller().of(request, session);
        Changed changed = change.run(new Locked(project, admins, caller));
        ObjectNode detail = JsonNodeFactory.instance.objectNode();
        if (role != null) detail.put("role", role.text());
        stores.audit()
                .write(
                        session,
                        project,
                        new AuditRepository.Change(
                                caller.actor(),
                                action,
                                "member/" + PublicId.format(Caller.USER_ID_PREFIX, changed.user()),
                                new String(Json.bytes(detail), StandardCharsets.UTF_8),
                                request.requestId()));
        return changed.response();
    }

    private static Problem lastAdmin() {
        return Problem.of(
                409,
                "last-admin",
                "You are the only admin of the project. Make another member an admin first; a key with the "
                        + "scope admin can"
                        + " also remove you.");
    }

    private void requireNotOwner(Session session, String project, UUID user) throws SQLException {
        ProjectRepository.Owner owner = stores.projects()
                .get(session, project)
                .map(ProjectRepository.StoredProject::owner)
                .orElse(null);
        if (owner != null && owner.user().equals(user))
            throw Problem.of(
                    409,
                    "member-owns-project",
                    "This member owns the project and stays an admin. Give the project to another user first, with PUT"
                            + " /v1/projects/%s/settings.".formatted(project));
    }
}
