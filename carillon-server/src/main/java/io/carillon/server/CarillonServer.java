package io.carillon.server;

import io.carillon.Carillon;
import io.carillon.server.access.KeyText;
import io.carillon.server.access.Keys;
import io.carillon.server.api.Api;
import io.carillon.server.api.BulkWorker;
import io.carillon.server.api.House;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.http.Cursors;
import io.carillon.server.http.Front;
import io.carillon.server.http.HttpDoor;
import io.carillon.server.http.Route;
import io.carillon.server.http.Router;
import io.carillon.server.store.AnswerRepository;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.BulkRepository;
import io.carillon.server.store.HouseRepository;
import io.carillon.server.store.KeyRepository;
import io.carillon.server.store.Transactions;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
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

/** The REST interface of a Carillon, for all its projects. Any number of them serve one database; none knows of the others. Closing it closes no Carillon. */
public final class CarillonServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(CarillonServer.class);
    /** A batch of small payloads, or one of the largest with room around it. */
    private static final int LONGEST_BODY = 2 * 1024 * 1024;

    private static final Duration JANITOR = Duration.ofMinutes(10);

    private final House house;
    private final Duration auditKept;
    private final HttpDoor door;
    private final Router router;
    private final List<Thread> threads;
    /** Given by the caller, who closes them; or our own. */
    private final Optional<ServerWebhooks> own;

    private final Optional<String> bootstrapKey;

    /** Starts here: the Carillon to serve, and a pool for requests (of their own, best: the engine keeps its two connections). */
    public static ServerBuilder on(Carillon carillon, DataSource dataSource) {
        return new ServerBuilder(carillon, dataSource);
    }

    CarillonServer(ServerBuilder builder) {
        auditKept = builder.auditKept;
        Transactions transactions = new Transactions(builder.dataSource);
        log.info("projects are kept apart walls={}", transactions.walled() ? 2 : 1);
        KeyRepository keys = new KeyRepository(transactions);
        HouseRepository projects = new HouseRepository(transactions);
        AnswerRepository answers = new AnswerRepository(transactions);
        refuseOpenDoor(builder.address, keys);
        own = builder.webhooks.isPresent()
                ? Optional.empty()
                : Optional.of(ServerWebhooks.on(builder.dataSource).build());
        house = new House(
                builder.carillon,
                transactions,
                new House.Tables(
                        keys, new AuditRepository(transactions), answers, projects, new BulkRepository(transactions)),
                new Cursors(projects.secret("cursor")),
                builder.webhooks.or(() -> own).orElseThrow());
        BulkWorker bulk = new BulkWorker(house);
        Api.Settings settings = new Api.Settings(builder.registry::scrape, version(), builder.quota);
        List<Route> routes = new ArrayList<>(Api.routes(house, settings, bulk));
        routes.addAll(builder.more);
        router = new Router(routes);
        Double rate = builder.quota.requestsPerSecond();
        Keys callers = new Keys(keys, projects, rate == null ? Double.MAX_VALUE : rate, builder.tokens);
        Front front = new Front(
                router,
                callers,
                LONGEST_BODY,
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
        door = new HttpDoor(builder.address, builder.port, front);
        bootstrapKey = bootstrap(keys);
        threads = List.of(Threads.every(JANITOR, this::tidy), Threads.again("carillon-server-bulk", bulk::round));
        log.info(
                "server listens address={} port={} routes={}",
                builder.address.getHostAddress(),
                door.port(),
                routes.size());
    }

    /** There is no key by default; until somebody made one, nobody but this machine gets in. */
    private static void refuseOpenDoor(InetAddress address, KeyRepository keys) {
        if (address.isLoopbackAddress() || !keys.onlyBootstrap()) return;
        throw new CarillonException(
                ErrorCode.INVALID_OPTION,
                "The address %s is open to others, and nobody has made a key yet. Start on the loopback address, make a key by POST /v1/keys with the bootstrap key, and start again."
                        .formatted(address.getHostAddress()));
    }

    private static Optional<String> bootstrap(KeyRepository keys) {
        KeyText key = KeyText.fresh();
        return keys.bootstrap(key.id(), key.hash()) ? Optional.of(key.text()) : Optional.empty();
    }

    /** Removes what is old, in short statements, until nothing is left of it. */
    void tidy() {
        removeAll("idempotency", () -> house.tables().answers().forget());
        removeAll("bulk_action", () -> house.tables().bulk().forget());
        removeAll("audit", () -> house.tables().audit().forget(auditKept));
    }

    private static void removeAll(String table, IntSupplier part) {
        try {
            while (part.getAsInt() > 0 && !Thread.currentThread().isInterrupted()) {}
        } catch (RuntimeException failure) {
            log.warn("could not remove old rows; will retry table={}", table, failure);
        }
    }

    /** The version of the jar, or what it is when it runs from classes. */
    private static String version() {
        String version = CarillonServer.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    /** The first key, if this very start made it: to be shown to a person once. It is stored nowhere. */
    public Optional<String> bootstrapKey() {
        return bootstrapKey;
    }

    /** The port it listens on. */
    public int port() {
        return door.port();
    }

    /** All routes, for whoever checks them. */
    public List<Route> routes() {
        return router.routes();
    }

    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
        door.close();
        own.ifPresent(ServerWebhooks::close);
    }
}
