package io.carillon.server.login;

import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.TextCleaner;
import io.carillon.server.access.LoginPermits;
import io.carillon.server.browser.EncryptedCookie;
import io.carillon.server.browser.SessionCookies;
import io.carillon.server.dashboard.DashboardRoutes;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.ApiResponse;
import io.carillon.server.http.Permission;
import io.carillon.server.http.Route;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The login of the dashboard: a browser goes to the provider, and comes back with a code. Both routes answer with a
 * redirect to the provider or to the page of the dashboard, never to a URL that a request names.
 */
public final class LoginRoutes {
    private static final Logger log = LoggerFactory.getLogger(LoginRoutes.class);
    private static final String CALLBACK = DashboardRoutes.PATH + "/callback";
    /** Relative to both routes, so that it has the path prefix of a proxy. */
    private static final String PAGE = "../ui";

    private final OidcProvider provider;
    private final UserLogin userLogin;
    private final SessionCookies sessions;
    private final EncryptedCookie loginCookie;
    private final Optional<URI> publicUrl;
    private final Supplier<Instant> clock;
    /** Each login waits for the provider up to ten seconds. Those that come back do not delay those that start. */
    private final LoginPermits starts = new LoginPermits();

    private final LoginPermits callbacks = new LoginPermits();

    /**
     * Creates the routes.
     *
     * @param loginCookie keeps a login in progress
     * @param publicUrl the address of this server for browsers; empty if only browsers of this machine reach it
     * @param clock returns the database time
     */
    public LoginRoutes(
            OidcSettings settings,
            UserLogin userLogin,
            SessionCookies sessions,
            EncryptedCookie loginCookie,
            Optional<URI> publicUrl,
            Supplier<Instant> clock) {
        this.provider = new OidcProvider(settings);
        this.userLogin = userLogin;
        this.sessions = sessions;
        this.loginCookie = loginCookie;
        this.publicUrl = publicUrl;
        this.clock = clock;
    }

    /**
     * Returns the kind of the cookie for a login in progress. The provider sends the browser back from another site.
     */
    public static EncryptedCookie.Kind cookieKind() {
        return new EncryptedCookie.Kind("carillon-login", "carillon login", "Lax");
    }

    public List<Route> routes() {
        return List.of(
                Route.get(
                        DashboardRoutes.PATH + "/login",
                        Permission.PUBLIC,
                        request -> attempt(request, starts, this::start)),
                // A provider may add parameters of its own.
                Route.get(CALLBACK, Permission.PUBLIC, request -> attempt(request, callbacks, this::complete))
                        .withQuery(Route.ANY_PARAMETER));
    }

    private interface Step {
        ApiResponse run(ApiRequest request) throws LoginFailure;
    }

    private ApiResponse attempt(ApiRequest request, LoginPermits permits, Step step) {
        Optional<LoginPermits.Permit> permit = permits.take(request.remoteAddress());
        if (permit.isEmpty()) return failed(request, LoginFailure.Cause.BUSY);
        try {
            return step.run(request);
        } catch (LoginFailure failure) {
            if (failure.reason().isOfClient()) permits.countFailure(request.remoteAddress());
            @Nullable Throwable cause = failure.getCause();
            log.warn(
                    "login failed request={} reason={} detail={}",
                    ControlCharacters.escape(request.requestId()),
                    ControlCharacters.escape(failure.reason().text()),
                    ControlCharacters.escape(TextCleaner.clean(String.valueOf(failure.getMessage()), 500)),
                    cause);
            return failed(request, failure.reason());
        } finally {
            permit.get().release();
        }
    }

    private ApiResponse start(ApiRequest request) throws LoginFailure {
        LoginState login = LoginState.start(clock.get());
        URI url = provider.loginUrl(login, callback(request));
        return redirect(url.toString())
                .withCookies(List.of(loginCookie.set(request, login.bytes(), LoginState.LIFETIME)));
    }

    private ApiResponse complete(ApiRequest request) throws LoginFailure {
        String state = request.query("state").orElse("");
        LoginState login = loginCookie
                .read(request)
                .flatMap(LoginState::of)
                .filter(started -> started.matches(state, clock.get()))
                .orElseThrow(() -> new LoginFailure(
                        LoginFailure.Cause.LOGIN_EXPIRED, "the response belongs to no login of this browser"));
        Optional<String> error = request.query("error");
        if (error.isPresent()) throw refused(error.get(), request.query("error_description"));
        String code = request.query("code")
                .filter(text -> !text.isBlank())
                .orElseThrow(() -> new LoginFailure(
                        LoginFailure.Cause.PROVIDER_REFUSED, "the response has neither a code nor an error"));
        OidcProvider.Identity identity = provider.identify(login, code, request.query("iss"), callback(request));
        UserLogin.Started started = userLogin.start(request, provider.issuer(), identity);
        return redirect(PAGE)
                .withCookies(List.of(
                        sessions.setCookie(request, started.token(), started.expiresAt(), clock.get()),
                        loginCookie.remove(request)));
    }

    /** The text of the provider is logged, and not shown: the author of a link can choose it. */
    private static LoginFailure refused(String error, Optional<String> description) {
        return new LoginFailure(
                error.equals("access_denied") ? LoginFailure.Cause.ACCESS_DENIED : LoginFailure.Cause.PROVIDER_REFUSED,
                "the provider answered with the error %s %s".formatted(error, description.orElse("")));
    }

    /** Returns the URL to which the provider sends the browser. The provider must know it. */
    private URI callback(ApiRequest request) throws LoginFailure {
        String base = publicUrl
                .map(URI::toString)
                .orElseGet(() -> "http://" + request.header("Host").orElse("localhost"));
        try {
            return URI.create((base.endsWith("/") ? base.substring(0, base.length() - 1) : base) + CALLBACK);
        } catch (IllegalArgumentException odd) {
            throw new LoginFailure(LoginFailure.Cause.LOGIN_EXPIRED, "the header Host is not that of a URL", odd);
        }
    }

    private static ApiResponse failed(ApiRequest request, LoginFailure.Cause reason) {
        return redirect("%s#/login-failed/%s/%s".formatted(PAGE, reason.text(), request.requestId()));
    }

    private static ApiResponse redirect(String location) {
        return new ApiResponse(302, Map.of("Location", location), new byte[0], null);
    }
}
