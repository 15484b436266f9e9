package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.openapi.OpenApiDescription;
import io.carillon.server.openapi.SampleRequests;
import io.carillon.spi.Keyring;
import io.carillon.testkit.FaultProxy;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * While the database is unreachable, every route answers 503, no acknowledged change is lost, and the
 * server recovers automatically.
 */
class DatabaseOutageTest {
    private static final RestTestServer CLIENT = new RestTestServer();
    /** Public operations that use the database. */
    private static final Set<String> ASKS_DATABASE = Set.of("revokeKeyByValue", "readyz", "completeRun");

    /** A public operation whose sample has an invented login link. */
    private static final String LOGIN = "redeemLoginLink";

    /** Operations that work without the database for a caller whose key is cached. */
    private static final Set<String> WITHOUT_DATABASE =
            Set.of("previewSchedule", "metrics", "health", "getSession", "endSession");

    private TestDatabase database;
    private FaultProxy proxy;
    private ServerWebhooks webhooks;
    private Carillon carillon;
    private CarillonServer server;
    private String key;

    @BeforeEach
    void start() {
        database = TestDatabase.migrated();
        proxy = FaultProxy.inFrontOf(database);
        webhooks = ServerWebhooks.on(proxy.dataSource())
                .keys(Keyring.parse(Keyring.newKey("first")))
                .build();
        carillon = webhooks.handleOn(Carillon.on(proxy.dataSource())).build();
        server = CarillonServer.on(carillon, proxy.dataSource())
                .webhooks(webhooks)
                .listen("127.0.0.1", 0)
                .start();
        key = server.bootstrapKey().orElseThrow();
    }

    @AfterEach
    void stop() {
        proxy.restore();
        server.close();
        carillon.close();
        webhooks.close();
        proxy.close();
        database.close();
    }

    private RestTestServer.Reply ask(String by, String method, String path, String body, String... headers) {
        return CLIENT.sendTo(server.port(), by, method, path, body, headers);
    }

    private void cutDatabase() {
        proxy.refuseConnections();
        proxy.resetConnections();
    }

    private void restoreDatabase() {
        proxy.restore();
        await().atMost(Duration.ofSeconds(10))
                .until(() -> ask(key, "GET", "/v1/stats", null).status() == 200
                        && ask(null, "GET", "/readyz", null).status() == 200);
    }

    @Test
    void every_route_answers_503_while_the_database_is_away_and_recovers() {
        String unseen = ask(key, "POST", "/v1/keys", "{\"name\":\"unseen\",\"scopes\":[\"admin\"]}")
                .requireStatus(201)
                .at("/key");
        ask(key, "PUT", "/v1/schedules/there", "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"a\"}}")
                .requireStatus(201);
        cutDatabase();

        for (String caller : List.of(key, unseen))
            for (OpenApiDescription.Operation operation :
                    OpenApiDescription.instance().operations()) {
                // An invented key is answered without the database.
                String body = operation.path().endsWith(":revoke-by-value")
                        ? "{\"key\":\"" + unseen + "\"}"
                        : SampleRequests.body(operation);
                String path = SampleRequests.path(operation, operationId(operation));
                RestTestServer.Reply reply = ask(
                        caller, operation.method(), SampleRequests.withRequiredQuery(operation, path, "there"), body);
                String message = "%s by %s: %d %s".formatted(operation, caller, reply.status(), reply.text());
                String id = operation.node().path("operationId").stringValue("");
                assertThat(OpenApiDescription.instance()
                                .violations(
                                        operation,
                                        reply.status(),
                                        reply.header("Content-Type").orElse(""),
                                        reply.text()))
                        .as(message)
                        .isEmpty();
                if (operation.permission().equals("public") && !ASKS_DATABASE.contains(id)) {
                    assertThat(reply.status()).as(message).isEqualTo(id.equals(LOGIN) ? 401 : 200);
                    continue;
                }
                if (caller.equals(key) && WITHOUT_DATABASE.contains(id) && reply.status() == 200) continue;
                assertThat(reply.status()).as(message).isEqualTo(503);
                assertThat(reply.header("Retry-After")).as(message).isPresent();
                assertThat(reply.text()).as(message).doesNotContain("SQL", "Connection", "java");
            }

        restoreDatabase();
    }

    private static String operationId(OpenApiDescription.Operation operation) {
        return operation.path().startsWith("/v1/bulk-actions/") ? "blk_00000000000000000000000000" : "there";
    }

    @Test
    void nothing_acknowledged_is_lost_or_done_twice_while_it_comes_and_goes() throws Exception {
        int writers = 4;
        int each = 10;
        ExecutorService threads = Executors.newFixedThreadPool(writers);
        try {
            List<Future<List<String>>> written = new ArrayList<>();
            for (int i = 0; i < writers; i++) {
                String name = "writer-" + i + "-";
                written.add(threads.submit(() -> {
                    List<String> runs = new ArrayList<>();
                    for (int k = 0; k < each; k++) runs.add(enqueueUntilAcknowledged(name + k));
                    return runs;
                }));
            }
            while (!written.stream().allMatch(Future::isDone)) {
                cutDatabase();
                TimeUnit.MILLISECONDS.sleep(20); // the length of the outage, not a wait for a condition
                proxy.restore();
                proxy.resetAfterCommit(sql -> sql.contains("carillon.idempotency"), 2);
                TimeUnit.MILLISECONDS.sleep(80);
            }
            restoreDatabase();
            Set<String> acknowledged = new HashSet<>();
            for (Future<List<String>> one : written) acknowledged.addAll(one.get(1, TimeUnit.SECONDS));
            assertThat(acknowledged).hasSize(writers * each);
            assertThat(database.query("SELECT count(*) FROM carillon.run").number())
                    .isEqualTo(acknowledged.size());
            assertThat(database.query("SELECT count(*) FROM carillon.audit WHERE action = 'run.enqueue'")
                            .number())
                    .isEqualTo(acknowledged.size());
            for (String run : acknowledged)
                ask(key, "GET", "/v1/runs/" + run, null).requireStatus(200);
        } finally {
            threads.shutdownNow();
        }
    }

    private String enqueueUntilAcknowledged(String name) {
        while (true) {
            RestTestServer.Reply reply = ask(
                    key,
                    "POST",
                    "/v1/runs",
                    "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}",
                    "Idempotency-Key",
                    name);
            if (reply.status() == 201) return reply.at("/run");
            assertThat(reply.status()).as(reply.text()).isIn(409, 503);
            assertThat(reply.header("Retry-After")).as(reply.text()).isPresent();
        }
    }

    @Test
    void health_and_503_are_still_answered_while_the_database_does_not_respond() throws Exception {
        proxy.stall();
        ExecutorService threads = Executors.newFixedThreadPool(160);
        try {
            List<Future<RestTestServer.Reply>> asked = new ArrayList<>();
            for (int i = 0; i < 160; i++) asked.add(threads.submit(() -> ask(key, "GET", "/v1/stats", null)));
            await().atMost(Duration.ofSeconds(10))
                    .until(() -> asked.stream().filter(Future::isDone).count() >= 40);
            for (int i = 0; i < 20; i++) ask(null, "GET", "/healthz", null).requireStatus(200);
            for (Future<RestTestServer.Reply> one : asked)
                if (one.isDone())
                    assertThat(one.get().requireStatus(503).header("Retry-After"))
                            .isPresent();
            restoreDatabase();
            for (Future<RestTestServer.Reply> one : asked)
                assertThat(one.get(30, TimeUnit.SECONDS).status()).isIn(200, 503);
        } finally {
            threads.shutdownNow();
        }
    }
}
