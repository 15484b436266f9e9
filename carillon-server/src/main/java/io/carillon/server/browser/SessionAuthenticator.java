package io.carillon.server.browser;

import io.carillon.server.access.BearerAuthenticator;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.Authenticator;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Problem;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Identifies callers by their session cookie, if they send no key or token. A browser adds cookies to requests that
 * other sites cause, so a request with a cookie is refused unless it comes from a page of this server: the cookie is
 * {@code SameSite=Strict}, the headers {@code Origin} and {@code Sec-Fetch-Site} must name this server if the browser
 * sends them, and a request that changes something must have the header {@value #CSRF_HEADER}, which pages of other
 * sites cannot send.
 */
public final class SessionAuthenticator implements Authenticator {
    static final String CSRF_HEADER = "X-Carillon-CSRF";
    /** A page sends it with requests that no action of the user caused. */
    private static final String REFRESH_HEADER = "X-Carillon-Refresh";

    private static final Pattern ORIGIN = Pattern.compile("https?://([^/]+)");
    private static final Set<String> OWN_SITE = Set.of("same-origin", "none");

    private final BearerAuthenticator byBearer;
    private final SessionCookies cookies;
    private final AllowedHosts hosts;
    private final Supplier<Instant> clock;

    /**
     * Creates an authenticator.
     *
     * @param byBearer identifies the key or token of a session
     * @param clock returns the database time
     */
    public SessionAuthenticator(
            BearerAuthenticator byBearer, SessionCookies cookies, AllowedHosts hosts, Supplier<Instant> clock) {
        this.byBearer = byBearer;
        this.cookies = cookies;
        this.hosts = hosts;
        this.clock = clock;
    }

    @Override
    public Caller identify(ApiRequest request) {
        return identify(request, request.header(REFRESH_HEADER).isEmpty());
    }

    @Override
    public Caller identifyAgain(ApiRequest stream) {
        return identify(stream, false);
    }

    private Caller identify(ApiRequest request, boolean isUse) {
        if (request.header("Authorization").isPresent() || !cookies.isPresent(request))
            return byBearer.identify(request);
        String bearer = cookies.bearer(request, clock.get()).orElseThrow(Problem::unauthenticated);
        Caller caller = byBearer.identifySession(request.withHeader("Authorization", "Bearer " + bearer), isUse);
        try {
            refuseOtherSites(request);
        } catch (Problem refused) {
            byBearer.onForbidden(request.withCaller(caller));
            throw refused;
        }
        return caller;
    }

    @Override
    public Map<String, String> rateHeaders(Caller caller) {
        return byBearer.rateHeaders(caller);
    }

    @Override
    public void onForbidden(ApiRequest refused) {
        byBearer.onForbidden(refused);
    }

    private void refuseOtherSites(ApiRequest request) {
        boolean own = request.header("Origin")
                        .map(origin -> isOwn(request, origin))
                        .orElse(true)
                && request.header("Sec-Fetch-Site").map(OWN_SITE::contains).orElse(true);
        if (!own)
            throw Problem.of(
                    403,
                    "origin-not-allowed",
                    "A page of another site sent this request with the session of this server. Use an API key. If the "
                            + "page belongs to this server, add its host to the setting allowed-hosts.");
        if (!request.route().method().equals("GET")
                && request.header(CSRF_HEADER).orElse("").isBlank())
            throw Problem.of(
                    403,
                    "csrf-header-missing",
                    "A request that changes something with a session needs the header %s, with any value."
                            .formatted(CSRF_HEADER));
    }

    private boolean isOwn(ApiRequest request, String origin) {
        Matcher parts = ORIGIN.matcher(origin.toLowerCase(Locale.ROOT));
        if (!parts.matches()) return false;
        String authority = parts.group(1);
        return authority.equals(request.header("Host").orElse("").toLowerCase(Locale.ROOT))
                || hosts.isListed(authority);
    }
}
