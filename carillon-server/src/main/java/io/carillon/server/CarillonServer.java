package io.carillon.server;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.server.access.BearerAuthenticator;
import io.carillon.server.access.Cursors;
import io.carillon.server.access.DenialAudit;
import io.carillon.server.access.GuessLimiter;
import io.carillon.server.access.KeyIssuer;
import io.carillon.server.access.LeakedKeys;
import io.carillon.server.access.PlaintextApiKey;
import io.carillon.server.access.ValidKeys;
import io.carillon.server.api.Api;
import io.carillon.server.api.BulkWorker;
import io.carillon.server.api.QuotaCheck;
import io.carillon.server.api.ServerContext;
import io.carillon.server.api.event.EventApi;
import io.carillon.server.api.execution.ExecutionRoute;
import io.carillon.server.browser.AllowedHosts;
import io.carillon.server.browser.LoginLinks;
import io.carillon.server.browser.SessionAuthenticator;
import io.carillon.server.browser.SessionCookies;
import io.carillon.server.browser.SessionRoutes;
import io.carillon.server.dashboard.DashboardFiles;
import io.carillon.server.dashboard.DashboardRoutes;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.http.Caller;
import io.carillon.server.http.JettyServer;
import io.carillon.server.http.RequestDispatcher;
import io.carillon.server.http.Route;
import io.carillon.server.http.Router;
import io.carillon.server.login.OidcSettings;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.ProjectRepository;
import io.carillon.server.store.Transactions;
import io.carillon.server.stream.StreamPermits;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Timer;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The REST server of a {@link Carillon}, for all its projects. Any number of servers can use the same database; they
 * need no connection to each other. Closing the server does not close the Carillon.
 */
public final class CarillonServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(CarillonServer.class);
    private static final int STREAM_THREADS = 4;

    private final ServerContext context;
    private final Duration auditRetention;
    private final JettyServer httpServer;
    private final List<Route> apiRoutes;
    private final LoginLinks loginLinks = new LoginLinks();
    private final List<Thread> threads;
    /** Present if this server created its webhooks and must close them; empty if the caller passed its own. */
    private final Optional<ServerWebhooks> ownWebhooks;

    private final Optional<String> bootstrapKey;

    /**
     * Returns a builder for a server of this Carillon. The server takes the connections of its requests from {@code
     * dataSource}; give it a pool that the engine does not use, because the engine keeps two connections permanently.
     */
    public static ServerBuilder on(Carillon carillon, DataSource dataSource) {
        return new ServerBuilder(carillon, dataSource);
    }

    CarillonServer(ServerBuilder builder) {
        auditRetention = builder.auditRetention;
        Transactions transactions = new Transactions(builder.dataSource);
        log.info("row-level security checked active={}", transactions.isRowSecurityActive());
        if (builder.requireRowSecurity) refuseWithoutRowSecurity(transactions);
        ServerContext.Repositories repositories = ServerContext.Repositories.on(transactions);
        ApiKeyRepository keys = repositories.keys();
        ProjectRepository projects = repositories.projects();
        requireKeyForPublicAddress(builder.address, keys);
        ownWebhooks = builder.webhooks.isPresent()
                ? Optional.empty()
                : Optional.of(ServerWebhooks.on(builder.dataSource).build());
        context = new ServerContext(
                builder.carillon,
                transactions,
                repositories,
                new Cursors(projects.getOrCreateSecret("cursor")),
                new KeyIssuer(projects.getOrCreateSecret("key")),
                builder.webhooks.or(() -> ownWebhooks));
        QuotaCheck quotaCheck = new QuotaCheck(context.repositories(), builder.quota);
        BulkWorker bulk = new BulkWorker(context, quotaCheck);
        GuessLimiter guesses = new GuessLimiter();
        LeakedKeys leakedKeys =
                new LeakedKeys(transactions, keys, context.repositories().audit(), context.keyIssuer(), guesses);
        StreamPermits streamPermits = new StreamPermits();
        Api.Settings settings = new Api.Settings(
                builder.registry::scrape, version(), quotaCheck, streamPermits, builder.maxKeyLifetime);
        AllowedHosts hosts = new AllowedHosts(builder.listenHost, builder.allNames());
        UserAccess userAccess = new UserAccess(builder, context);
        SessionCookies cookies = new SessionCookies(projects.getOrCreateSecret("session"), userAccess.isOnlyLocal());
        List<Route> routes = new ArrayList<>(Api.routes(context, settings, bulk, leakedKeys));
        routes.addAll(EventApi.routes(context, quotaCheck, streamPermits));
        routes.addAll(new ExecutionRoute(context).routes());
        Double rate = builder.quota.requestsPerSecond();
        DenialAudit denials =
                new DenialAudit(transactions, context.repositories().audit(), keys, context.keyIssuer());
        FunctionCounter.builder("carillon.audit.dropped", denials, DenialAudit::dropped)
                .description("Refused requests without an audit entry, because too many waited for theirs")
                .register(builder.registry);
        BearerAuthenticator authenticator = new BearerAuthenticator(
                new ValidKeys(keys, context.keyIssuer()),
                projects,
                rate == null ? Double.MAX_VALUE : rate,
                new BearerAuthenticator.OtherCallers(builder.tokenVerifier, userAccess.sessions()),
                guesses,
                denials);
        SessionRoutes cookieSessions =
                new SessionRoutes(cookies, transactions, context.repositories().audit(), authenticator, loginLinks);
        routes.addAll(cookieSessions.routes());
        routes.addAll(userAccess.apiRoutes(cookieSessions));
        routes.addAll(builder.extraRoutes);
        apiRoutes = List.copyOf(routes);
        routes.addAll(userAccess.loginRoutes(cookies));
        routes.addAll(new DashboardRoutes(new DashboardFiles(
                        builder.provider.map(OidcSettings::displayName).orElse("")))
                .routes());
        RequestDispatcher dispatcher = new RequestDispatcher(
                new Router(routes),
                new SessionAuthenticator(authenticator, cookies, hosts, transactions::now),
                hosts,
                builder.bodyMemory,
                builder.readOnly,
                request -> Timer.builder("carillon.http.requests")
                        .description("Requests over HTTP, and how long they took")
                        .tags(
                                "method",
                                request.method(),
                                "path",
                                request.path(),
                                "status",
                                Integer.toString(request.status()))
                        .register(builder.registry)
                        .record(request.took()));
        httpServer = new JettyServer(
                builder.address,
                builder.port,
                new JettyServer.Limits(builder.maxConnectionsPerAddress, builder.bodyGrace),
                Threads.startPool("carillon-http-stream", STREAM_THREADS),
                dispatcher);
        try {
            bootstrapKey = insertBootstrapKey(context, builder);
        } catch (RuntimeException notStored) {
            httpServer.close();
            throw notStored;
        }
        threads = List.of(
                Threads.startPeriodic(ExpiredRows.INTERVAL, this::deleteExpiredRows),
                Threads.startLoop("carillon-server-bulk", bulk::runOnce),
                Threads.startLoop("carillon-server-denials", denials::runOnce));
        log.info(
                "server started address={} port={} routes={}",
                builder.address.getHostAddress(),
                httpServer.port(),
                routes.size());
    }

    /** Refuses an address that other machines can reach as long as only the bootstrap key exists. */
    private static void requireKeyForPublicAddress(InetAddress address, ApiKeyRepository keys) {
        if (address.isLoopbackAddress() || !keys.hasOnlyBootstrapKey()) return;
        throw new CarillonException(
                ErrorCode.INVALID_OPTION,
                ("Cannot listen on %s: other machines can reach this address, but no API key has been created yet. "
                                + "Start the server on the loopback address, create a key with POST /v1/keys and the "
                                + "bootstrap key, then start again.")
                        .formatted(address.getHostAddress()));
    }

    private static void refuseWithoutRowSecurity(Transactions transactions) {
        if (transactions.isRowSecurityActive()) return;
        throw new CarillonException(
                ErrorCode.INVALID_OPTION,
                "Row-level security is not active: the role carillon_api is missing, or the server's user is not a"
                        + " member of it. As a user with CREATEROLE, call carillon.enable_row_security() and grant the"
                        + " role to the server's user. With --require-row-security=false the server starts without"
                        + " it; then only the conditions in its statements separate projects.");
    }

    private static Optional<String> insertBootstrapKey(ServerContext context, ServerBuilder builder) {
        PlaintextApiKey key = context.keyIssuer().generate();
        ServerContext.Repositories repositories = context.repositories();
        boolean inserted = repositories.keys().insertBootstrap(key.id(), key.hash(), session -> {
            repositories
                    .audit()
                    .write(
                            session,
                            Caller.ADMIN_PROJECT,
                            new AuditRepository.Change(
                                    "first start",
                                    "key.bootstrap",
                                    "key/" + key.id(),
                                    "{\"scopes\":\"admin\"}",
                                    "none"));
            builder.bootstrapKeyConsumer.accept(key.text());
        });
        return inserted ? Optional.of(key.text()) : Optional.empty();
    }

    /** Deletes expired rows in short statements until none is left. */
    void deleteExpiredRows() {
        ExpiredRows.delete(context.repositories(), auditRetention);
    }

    /** Returns the version from the jar's manifest, or {@code development} if the classes do not come from a jar. */
    private static String version() {
        String version = CarillonServer.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    /**
     * Returns the bootstrap key if this start created it; empty otherwise. Give it to the operator now: only its hash
     * is stored.
     */
    public Optional<String> bootstrapKey() {
        return bootstrapKey;
    }

    /** Returns the port that the server listens on. */
    public int port() {
        return httpServer.port();
    }

    /** Returns the routes of the API, for tests and tools. */
    public List<Route> routes() {
        return apiRoutes;
    }

    /**
     * Returns a link that opens the dashboard with a session of this key or token, once, within ten minutes.
     *
     * @param url the address of this server, such as {@code http://127.0.0.1:8080}
     */
    public String loginLink(String url, String bearer) {
        return "%s%s#/login/%s"
                .formatted(
                        url,
                        DashboardRoutes.PATH,
                        loginLinks.issue(bearer, context.transactions().now()));
    }

    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
        httpServer.close();
        ownWebhooks.ifPresent(ServerWebhooks::close);
    }
}
