package io.carillon.server;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.server.access.UserSessions;
import io.carillon.server.api.ServerContext;
import io.carillon.server.browser.EncryptedCookie;
import io.carillon.server.browser.SessionCookies;
import io.carillon.server.browser.SessionRoutes;
import io.carillon.server.http.Route;
import io.carillon.server.login.LoginRoutes;
import io.carillon.server.login.OidcSettings;
import io.carillon.server.login.UserLogin;
import io.carillon.server.request.CurrentCaller;
import io.carillon.server.user.MemberRoutes;
import io.carillon.server.user.SessionInfoRoutes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Assembles what users need: their login, their sessions, and the members of projects. */
final class UserAccess {
    private final ServerBuilder builder;
    private final ServerContext context;

    UserAccess(ServerBuilder builder, ServerContext context) {
        this.builder = builder;
        this.context = context;
        if (builder.provider.isPresent() && builder.publicUrl.isEmpty() && !isOnlyLocal())
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The login with an identity provider needs the address of this server for browsers, because "
                            + "it does not"
                            + " listen on a loopback address only. Set public-url, such as https://carillon.example.");
    }

    /** Returns whether the server listens on a loopback address and is not known by any other name. */
    boolean isOnlyLocal() {
        return builder.address.isLoopbackAddress()
                && builder.allowedHosts.isEmpty()
                && builder.publicUrl
                        .filter(url -> "https".equals(url.getScheme()))
                        .isEmpty();
    }

    /** Returns the sessions of users; empty if users cannot log in. */
    Optional<UserSessions> sessions() {
        return builder.provider.map(
                settings -> new UserSessions(context.repositories().users(), settings.issuer()));
    }

    /** Returns the operations of the API. */
    List<Route> apiRoutes(SessionRoutes cookieSessions) {
        ServerContext.Repositories repositories = context.repositories();
        MemberRoutes.Stores stores = new MemberRoutes.Stores(
                repositories.users(),
                repositories.members(),
                repositories.projects(),
                repositories.audit(),
                new CurrentCaller(repositories.keys(), repositories.members()));
        List<Route> routes = new ArrayList<>(new SessionInfoRoutes(
                        repositories.users(),
                        repositories.members(),
                        repositories.audit(),
                        cookieSessions,
                        builder.readOnly)
                .routes());
        routes.addAll(new MemberRoutes(
                        context.transactions(), stores, context.cursors(), builder.provider.map(OidcSettings::issuer))
                .routes());
        return routes;
    }

    /** Returns the routes of the login; none if users cannot log in. */
    List<Route> loginRoutes(SessionCookies cookies) {
        ServerContext.Repositories repositories = context.repositories();
        return builder.provider
                .map(settings -> new LoginRoutes(
                                settings,
                                new UserLogin(
                                        repositories.users(),
                                        repositories.members(),
                                        repositories.audit(),
                                        !builder.readOnly),
                                cookies,
                                new EncryptedCookie(
                                        LoginRoutes.cookieKind(),
                                        repositories.projects().getOrCreateSecret("login"),
                                        isOnlyLocal()),
                                builder.publicUrl,
                                context.transactions()::now)
                        .routes())
                .orElse(List.of());
    }
}
