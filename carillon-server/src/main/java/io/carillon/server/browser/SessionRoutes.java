package io.carillon.server.browser;

import io.carillon.server.access.BearerAuthenticator;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Caller;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.Transactions;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Sessions of browsers: a key or token is exchanged for a cookie that scripts cannot read. */
public final class SessionRoutes {
    private final SessionCookies cookies;
    private final Transactions transactions;
    private final AuditRepository audit;
    private final BearerAuthenticator byBearer;
    private final LoginLinks links;

    /**
     * Creates the routes.
     *
     * @param byBearer identifies the key or token of a login link
     */
    public SessionRoutes(
            SessionCookies cookies,
            Transactions transactions,
            AuditRepository audit,
            BearerAuthenticator byBearer,
            LoginLinks links) {
        this.cookies = cookies;
        this.byBearer = byBearer;
        this.links = links;
        this.transactions = transactions;
        this.audit = audit;
    }

    public List<Route> routes() {
        return List.of(
                Route.post("/v1/session", Permission.READ, this::start),
                Route.post("/v1/session:redeem", Permission.PUBLIC, this::redeem));
    }

    /** Returns what a caller may do. */
    public static JsonObject toJson(Caller caller) {
        return new JsonObject()
                .put("project", caller.project().isEmpty() ? null : caller.project())
                .put("scopes", List.copyOf(new TreeSet<>(caller.scopes())))
                .put("expiresAt", caller.limits().expiresAt());
    }

    private ApiResponse start(ApiRequest request) {
        request.optionalFields().refuseUnknown();
        String header = request.header("Authorization").orElse("");
        if (header.isEmpty())
            throw Problem.of(
                    400,
                    "invalid-header",
                    "A session does not start another one. Send a key or token as 'Authorization: Bearer …'.");
        String bearer = header.substring("Bearer ".length()).strip();
        if (!SessionCookies.fits(bearer))
            throw Problem.of(
                    400, "invalid-header", "The token is too long for a cookie. Use an API key, or a shorter token.");
        return start(request, bearer);
    }

    /** Starts a session with the one-time token of a login link, which replaces a key. */
    private ApiResponse redeem(ApiRequest request) {
        JsonFields body = request.fields();
        String token = body.required("token", body.text("token"));
        body.refuseUnknown();
        String bearer = links.redeem(token, transactions.now()).orElseThrow(Problem::unauthenticated);
        Caller caller = byBearer.identifySession(request.withHeader("Authorization", "Bearer " + bearer), true);
        if (!caller.hasPermission(Permission.READ)) throw Problem.unauthenticated();
        return start(request.withCaller(caller), bearer);
    }

    private ApiResponse start(ApiRequest request, String bearer) {
        Instant now = transactions.now();
        Instant expiresAt = expiry(now, request.caller().limits().expiresAt());
        if (!expiresAt.isAfter(now)) throw Problem.unauthenticated();
        writeAudit(request, "session.start");
        return ApiResponse.json(201, toJson(request.caller()).put("expiresAt", expiresAt))
                .withHeader("Set-Cookie", cookies.setCookie(request, bearer, expiresAt, now));
    }

    /** A session does not outlive its key or token. */
    private static Instant expiry(Instant now, @Nullable Instant keyEnd) {
        Instant latest = now.plus(SessionCookies.MAX_AGE);
        return keyEnd == null || keyEnd.isAfter(latest) ? latest : keyEnd;
    }

    /** Ends the session of a key or token: the browser forgets it. */
    public ApiResponse end(ApiRequest request) {
        if (request.caller().user() == null) writeAudit(request, "session.end");
        return ApiResponse.noContent().withHeader("Set-Cookie", cookies.removeCookie(request));
    }

    private void writeAudit(ApiRequest request, String action) {
        String project = request.caller().project();
        transactions.runInProject(project, session -> {
            audit.write(
                    session,
                    project,
                    new AuditRepository.Change(request.caller().actor(), action, "session", "{}", request.requestId()));
            return true;
        });
    }
}
