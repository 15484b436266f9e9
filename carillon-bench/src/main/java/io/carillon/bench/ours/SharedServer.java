package io.carillon.bench.ours;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.http.BareServer;
import io.carillon.bench.http.JsonCalls;
import io.carillon.bench.measure.MeasureException;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.server.CarillonServer;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.webhook.guard.AddressPolicy;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The server as {@code carillon serve} starts it, with the default quotas, a node that sends webhooks, and a receiver
 * that answers all of them. Names that end with {@code slow.example} are not resolved while the server is open.
 */
public final class SharedServer implements AutoCloseable {
    private static final Pattern KEY = Pattern.compile("\"key\":\"(crl_[^\"]+)\"");
    private static final Pattern NUMBER = Pattern.compile("\"number\":([0-9]+)");
    private static final String SLOW = "slow.example";

    private final CountDownLatch closing = new CountDownLatch(1);
    private final Map<Integer, Long> arrivedNanos = new ConcurrentHashMap<>();
    private final HikariDataSource engine;
    private final HikariDataSource requests;
    private final HikariDataSource endpoints;
    private final BareServer receiver;
    private final ServerWebhooks webhooks;
    private final Carillon carillon;
    private final CarillonServer server;
    private final JsonCalls admin;

    public SharedServer(BenchDatabase database) throws Exception {
        engine = database.pool(CarillonDrain.POOL);
        requests = database.pool(CarillonRestServer.REQUEST_POOL);
        endpoints = database.pool(4);
        receiver = new BareServer("{}".getBytes(StandardCharsets.UTF_8), this::onMessage);
        webhooks = ServerWebhooks.on(endpoints)
                .guard(AddressPolicy.defaults().allow("127.0.0.0/8"))
                .resolver(this::resolve)
                .build();
        carillon = webhooks.handleOn(Carillon.on(engine)).start();
        server = CarillonServer.on(carillon, requests)
                .webhooks(webhooks)
                .listen("127.0.0.1", 0)
                .start();
        String key = server.bootstrapKey().orElseThrow(() -> new MeasureException("The database has an API key."));
        admin = new JsonCalls(server.port(), key);
    }

    private void onMessage(byte[] body) {
        Matcher number = NUMBER.matcher(new String(body, StandardCharsets.UTF_8));
        if (number.find()) arrivedNanos.merge(Integer.valueOf(number.group(1)), System.nanoTime(), Math::min);
    }

    private InetAddress[] resolve(String host) throws UnknownHostException {
        if (!host.endsWith(SLOW)) return InetAddress.getAllByName("127.0.0.1");
        try {
            closing.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        throw new UnknownHostException(host);
    }

    /** Creates a project, and returns its key. */
    public String createProject(String name) {
        String answer = admin.post("/v1/projects", "{\"name\":\"%s\"}".formatted(name))
                .require(201)
                .text();
        Matcher key = KEY.matcher(answer);
        if (!key.find()) throw new MeasureException("The new project has no key: " + answer);
        return key.group(1);
    }

    public int port() {
        return server.port();
    }

    /** Returns the URL of the receiver, with this host name. */
    public String receiverUrl(String host) {
        return "http://%s:%d/".formatted(host, receiver.port());
    }

    /** Returns whether the message with this number has arrived. */
    public boolean hasArrived(int number) {
        return arrivedNanos.containsKey(number);
    }

    /** Returns when the message with this number arrived first, as {@link System#nanoTime}. */
    public long arrivedNanos(int number) {
        Long nanos = arrivedNanos.get(number);
        if (nanos == null) throw new MeasureException("Message %d has not arrived.".formatted(number));
        return nanos;
    }

    @Override
    public void close() {
        closing.countDown();
        server.close();
        carillon.close();
        webhooks.close();
        receiver.close();
        endpoints.close();
        requests.close();
        engine.close();
    }
}
