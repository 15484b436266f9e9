package io.carillon.dashboard;

import static java.util.Objects.requireNonNull;

import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.Authenticator;
import io.carillon.server.http.Caller;
import io.carillon.server.http.KeyLimits;
import io.carillon.server.http.Problem;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Identifies callers by the authorizer of the application. The application knows them by a cookie, which a browser adds
 * to requests of other sites too; so a change is refused unless a page of this application sent it.
 */
final class ServletAuthenticator implements Authenticator {
    private static final String CSRF_HEADER = "X-Carillon-CSRF";
    private static final Set<String> OWN_SITE = Set.of("same-origin", "none");

    private final String project;
    private final DashboardAuthorizer authorizer;
    private final boolean readOnly;
    private static final ThreadLocal<HttpServletRequest> current = new ThreadLocal<>();

    ServletAuthenticator(CarillonDashboard settings) {
        project = settings.projectName();
        authorizer = settings.authorizer();
        readOnly = settings.isReadOnly();
    }

    /** Runs a call whose caller is the user of this request. */
    <T> T during(HttpServletRequest request, Supplier<T> call) {
        current.set(request);
        try {
            return call.get();
        } finally {
            current.remove();
        }
    }

    @Override
    public Caller identify(ApiRequest apiRequest) {
        HttpServletRequest request = requireNonNull(current.get(), "called outside of a request");
        DashboardAccess access = authorizer.authorize(request);
        if (access.isNone()) throw refusal(request);
        Caller caller = caller(access);
        if (!caller.hasPermission(apiRequest.route().permission())) throw changesNothing();
        if (!apiRequest.route().method().equals("GET")) refuseOtherSites(request);
        return caller;
    }

    /**
     * Returns the caller that opened the stream: the check is on another thread, which has no user. ServletStream ends
     * the stream soon instead, and the browser then sends a request again.
     */
    @Override
    public Caller identifyAgain(ApiRequest stream) {
        return stream.caller();
    }

    private Caller caller(DashboardAccess access) {
        return new Caller(project, access.actor(), access.scopes(), KeyLimits.until(null));
    }

    private static Problem refusal(HttpServletRequest request) {
        return request.getUserPrincipal() == null
                ? Problem.of(401, "unauthenticated", "The application does not know you. Log in to it, then reload.")
                : Problem.of(403, "forbidden", "The application does not let you use this dashboard.");
    }

    private Problem changesNothing() {
        return Problem.of(
                403,
                "forbidden",
                readOnly
                        ? "This dashboard is read-only: the application shows it to every caller."
                        : "You may look at this dashboard, but not change anything.");
    }

    private static void refuseOtherSites(HttpServletRequest request) {
        String site = request.getHeader("Sec-Fetch-Site");
        boolean own = site == null ? isOwnOrigin(request) : OWN_SITE.contains(site);
        if (!own || request.getHeader(CSRF_HEADER) == null)
            throw Problem.of(
                    403,
                    "origin-not-allowed",
                    "A change needs the header %s, and must come from a page of this application."
                            .formatted(CSRF_HEADER));
    }

    /** Browsers send no {@code Sec-Fetch-Site} without TLS. */
    private static boolean isOwnOrigin(HttpServletRequest request) {
        String origin = request.getHeader("Origin");
        return origin == null || origin.substring(origin.indexOf("//") + 2).equalsIgnoreCase(request.getHeader("Host"));
    }
}
