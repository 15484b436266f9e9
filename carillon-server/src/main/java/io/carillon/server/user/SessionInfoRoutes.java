package io.carillon.server.user;

import io.carillon.internal.value.PublicId;
import io.carillon.server.access.UserSessions;
import io.carillon.server.browser.SessionRoutes;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Caller;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.MemberRepository;
import io.carillon.server.store.UserRepository;
import java.util.List;
import java.util.UUID;

/** Routes by which a caller reads its own identity, and by which a user lists and ends its own sessions. */
public final class SessionInfoRoutes {
    private static final String SESSION_PREFIX = "ses";
    private static final int MAX_PROJECTS = 200;
    private static final UUID NO_USER = new UUID(0, 0);

    private final UserRepository users;
    private final MemberRepository members;
    private final AuditRepository audit;
    private final SessionRoutes cookieSessions;
    private final boolean readOnly;

    /**
     * Creates the routes.
     *
     * @param cookieSessions ends the session of a key or token
     * @param readOnly whether the server refuses every change
     */
    public SessionInfoRoutes(
            UserRepository users,
            MemberRepository members,
            AuditRepository audit,
            SessionRoutes cookieSessions,
            boolean readOnly) {
        this.users = users;
        this.members = members;
        this.audit = audit;
        this.cookieSessions = cookieSessions;
        this.readOnly = readOnly;
    }

    public List<Route> routes() {
        return List.of(
                Route.get("/v1/session", Permission.ANY, this::get),
                Route.delete("/v1/session", Permission.ANY, this::end),
                Route.get("/v1/sessions", Permission.ANY, this::list),
                Route.delete("/v1/sessions/{id}", Permission.ANY, this::revoke));
    }

    private ApiResponse get(ApiRequest request) {
        Caller caller = request.caller();
        JsonObject body =
                SessionRoutes.toJson(caller).put("actor", caller.actor()).put("readOnly", readOnly);
        Caller.SessionUser user = caller.user();
        if (user == null) return ApiResponse.ok(body);
        UserRepository.StoredUser stored = users.find(user.id()).orElseThrow(Problem::unauthenticated);
        List<MemberRepository.Membership> projects =
                users.runAsServer(session -> members.listOfUser(session, user.id(), "", MAX_PROJECTS));
        return ApiResponse.ok(body.put("expiresAt", user.endsAt())
                .put(
                        "user",
                        new JsonObject()
                                .put("id", PublicId.format(Caller.USER_ID_PREFIX, stored.id()))
                                .put("issuer", stored.issuer())
                                .put("subject", stored.subject())
                                .put("name", stored.name())
                                .put("email", stored.email()))
                .put(
                        "projects",
                        projects.stream()
                                .map(one -> new JsonObject()
                                        .put("name", one.project())
                                        .put("role", one.role().text()))
                                .toList()));
    }

    private ApiResponse end(ApiRequest request) {
        Caller.SessionUser user = request.caller().user();
        if (user != null) delete(request, user.id(), user.session());
        return cookieSessions.end(request);
    }

    private ApiResponse list(ApiRequest request) {
        Caller.SessionUser user = request.caller().user();
        List<UserRepository.StoredSession> found = users.listSessions(userOf(request), UserSessions.IDLE);
        return ApiResponse.ok(new JsonObject()
                .put(
                        "items",
                        found.stream()
                                .map(one -> new JsonObject()
                                        .put("id", PublicId.format(SESSION_PREFIX, one.id()))
                                        .put("createdAt", one.createdAt())
                                        .put("usedAt", one.usedAt())
                                        .put("expiresAt", one.expiresAt())
                                        .put("address", one.address())
                                        .put("browser", one.browser())
                                        .put("current", user != null && one.id().equals(user.session())))
                                .toList()));
    }

    private ApiResponse revoke(ApiRequest request) {
        UUID id = PublicId.parse(SESSION_PREFIX, request.pathValue("id"));
        if (!delete(request, userOf(request), id)) throw Problem.notFound("session");
        return ApiResponse.noContent();
    }

    /** A key or token has no sessions that are stored: they end with it. */
    private static UUID userOf(ApiRequest request) {
        Caller.SessionUser user = request.caller().user();
        return user == null ? NO_USER : user.id();
    }

    private boolean delete(ApiRequest request, UUID user, UUID id) {
        return users.runAsServer(session -> {
            boolean deleted = users.deleteSession(session, user, id);
            if (deleted)
                audit.write(
                        session,
                        Caller.ADMIN_PROJECT,
                        new AuditRepository.Change(
                                request.caller().actor(),
                                "session.end",
                                "session/" + PublicId.format(SESSION_PREFIX, id),
                                "{}",
                                request.requestId()));
            return deleted;
        });
    }
}
