package io.carillon.server.browser;

import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.JsonObject;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Problem;
import io.carillon.server.http.Route;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.Transactions;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;

/** Sessions of browsers: a key or token is exchanged for a cookie that scripts cannot read. */
public final class SessionRoutes {
    private final SessionCookies cookies;
    private final Transactions transactions;
    private final AuditRepository audit;

    public SessionRoutes(SessionCookies cookies, Transactions transactions, AuditRepository audit) {
        this.cookies = cookies;
        this.transactions = transactions;
        this.audit = audit;
    }

    public List<Route> routes() {
        return List.of(
                Route.post("/v1/session", Permission.READ, this::start),
                Route.delete("/v1/session", Permission.READ, this::end));
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
        writeAudit(request, "session.start");
        Instant expiresAt = transactions.now().plus(SessionCookies.MAX_AGE);
        return ApiResponse.json(
                        201,
                        new JsonObject()
                                .put("project", request.caller().project())
                                .put(
                                        "scopes",
                                        List.copyOf(
                                                new TreeSet<>(request.caller().scopes())))
                                .put("expiresAt", expiresAt))
                .withHeader("Set-Cookie", cookies.setCookie(request, bearer, expiresAt));
    }

    private ApiResponse end(ApiRequest request) {
        writeAudit(request, "session.end");
        return ApiResponse.noContent().withHeader("Set-Cookie", SessionCookies.removeCookie(request));
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
