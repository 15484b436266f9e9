package io.carillon.server;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.server.access.BearerAuthenticator;
import io.carillon.server.access.DenialAudit;
import io.carillon.server.access.GuessLimiter;
import io.carillon.server.access.LeakedKeys;
import io.carillon.server.access.PlaintextApiKey;
import io.carillon.server.api.Api;
import io.carillon.server.api.BulkWorker;
import io.carillon.server.api.ServerContext;
import io.carillon.server.browser.AllowedHosts;
import io.carillon.server.browser.SessionAuthenticator;
import io.carillon.server.browser.SessionCookies;
import io.carillon.server.browser.SessionRoutes;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Cursors;
import io.carillon.server.http.JettyServer;
import io.carillon.server.http.RequestDispatcher;
import io.carillon.server.http.Route;
import io.carillon.server.http.Router;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.BulkRepository;
import io.carillon.server.store.IdempotencyRepository;
import io.carillon.server.store.ProjectRepository;
import io.carillon.server.store.Transactions;
import io.micrometer.core.instrument.Timer;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;
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
    private static final Duration CLEANUP_INTERVAL = Duration.ofMinutes(10);

    private final ServerContext context;
    private final Duration auditRetention;
    private final JettyServer httpServer;
    private final Router router;
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
        ApiKeyRepository keys = new ApiKeyRepository(transactions);
        ProjectRepository projects = new ProjectRepository(transactions);
        IdempotencyRepository answers = new IdempotencyRepository(transactions);
        requireKeyForPublicAddress(builder.address, keys);
        ownWebhooks = builder.webhooks.isPresent()
                ? Optional.empty()
                : Optional.of(ServerWebhooks.on(builder.dataSource).build());
        context = new ServerContext(
                builder.carillon,
                transactions,
                new ServerContext.Repositories(
                        keys, new AuditRepository(transactions), answers, projects, new BulkRepository(transactions)),
                new Cursors(projects.getOrCreateSecret("cursor")),
                builder.webhooks.or(() -> ownWebhooks).orElseThrow());
        BulkWorker bulk = new BulkWorker(context);
        GuessLimiter guesses = new GuessLimiter();
        LeakedKeys leakedKeys =
                new LeakedKeys(transactions, keys, context.repositories().audit(), guesses);
        Api.Settings settings =
                new Api.Settings(builder.registry::scrape, version(), builder.quota, builder.maxKeyLifetime);
        AllowedHosts hosts = new AllowedHosts(builder.listenHost, builder.allowedHosts);
        SessionCookies cookies = new SessionCookies(projects.getOrCreateSecret("session"));
        List<Route> routes = new ArrayList<>(Api.routes(context, settings, bulk, leakedKeys));
        routes.addAll(
                new SessionRoutes(cookies, transactions, context.repositories().audit()).routes());
        routes.addAll(builder.extraRoutes);
        router = new Router(routes);
        Double rate = builder.quota.requestsPerSecond();
        DenialAudit denials =
                new DenialAudit(transactions, context.repositories().audit(), keys);
        BearerAuthenticator authenticator = new BearerAuthenticator(
                keys, projects, rate == null ? Double.MAX_VALUE : rate, builder.tokenVerifier, guesses, denials);
        RequestDispatcher dispatcher = new RequestDispatcher(
                router,
                new SessionAuthenticator(authenticator, cookies, hosts, transactions::now),
                hosts,
                request -> Timer.builder("carillon.http.requests")
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
            bootstrapKey = insertBootstrapKey(context.repositories(), builder);
        } catch (RuntimeException notStored) {
            httpServer.close();
            throw notStored;
        }
        threads = List.of(
                Threads.startPeriodic(CLEANUP_INTERVAL, this::deleteExpiredRows),
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

    private static Optional<String> insertBootstrapKey(ServerContext.Repositories repositories, ServerBuilder builder) {
        PlaintextApiKey key = PlaintextApiKey.generate();
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
        removeAll("idempotency", () -> context.repositories().idempotency().deleteExpired());
        removeAll("bulk_action", () -> context.repositories().bulk().deleteExpired());
        removeAll("audit", () -> context.repositories().audit().deleteOlderThan(auditRetention));
    }

    private static void removeAll(String table, IntSupplier part) {
        try {
            while (part.getAsInt() > 0 && !Thread.currentThread().isInterrupted()) {}
        } catch (RuntimeException failure) {
            log.warn("could not remove old rows; will retry table={}", table, failure);
        }
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

    /** Returns all routes, for tests and tools. */
    public List<Route> routes() {
        return router.routes();
    }

    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
        httpServer.close();
        ownWebhooks.ifPresent(ServerWebhooks::close);
    }
}
