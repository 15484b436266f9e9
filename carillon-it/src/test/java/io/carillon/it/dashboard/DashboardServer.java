package io.carillon.it.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.server.CarillonServer;
import io.carillon.server.ServerBuilder;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.spi.Keyring;
import io.carillon.testkit.TestDatabase;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Signal;
import io.carillon.workflow.Step;
import io.carillon.workflow.StepFailedException;
import io.carillon.workflow.WorkflowType;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A server with a node whose handlers succeed or fail, and the REST calls that prepare what a test looks at. The node
 * executes runs only when a test asks for it, so that no page changes by itself.
 */
final class DashboardServer implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();

    private final HttpClient client = HttpClient.newHttpClient();
    private final TestDatabase database = TestDatabase.migrated();
    private final ServerWebhooks webhooks = ServerWebhooks.on(database.pool(4))
            .keys(Keyring.parse(Keyring.newKey("test")))
            .guard(AddressPolicy.defaults().allow("127.0.0.1/32"))
            .build();
    private final Carillon carillon;
    private CarillonServer server;
    private final int port;
    private final String key;

    DashboardServer() {
        carillon = webhooks.handleOn(Carillon.on(database.pool(8)))
                .handle(HandlerType.of("fine", JsonNode.class), (payload, run) -> run.log(payload.toString()))
                .handle(
                        HandlerType.of("broken", JsonNode.class),
                        (payload, run) -> {
                            throw new IllegalStateException(
                                    payload.path("error").asString("broken on purpose"));
                        },
                        HandlerOptions.defaults()
                                .retry(Retry.exponential(Duration.ofMillis(1)).attempts(1)))
                .workflow(WorkflowType.of("checkout", JsonNode.class), DashboardServer::checkout)
                .workflow(WorkflowType.of("approved", JsonNode.class), DashboardServer::approved)
                .build();
        server = start(0);
        port = server.port();
        key = server.bootstrapKey().orElseThrow();
    }

    /** A workflow whose steps return its input, have a long result, fail, and sleep. */
    private static String checkout(JsonNode order, Flow flow) {
        flow.run(Step.of("charge", JsonNode.class), step -> order);
        flow.run(Step.of("print", String.class).key("a key that " + "is long ".repeat(10)), step -> "x".repeat(9_000));
        try {
            flow.run(Step.of("greet", Void.class).retry(Retry.none()), step -> {
                throw new IllegalStateException("<b>no one</b> is there");
            });
        } catch (StepFailedException failed) {
            flow.sleep("cooling-off", Duration.ofSeconds(order.path("sleep").asInt(300_000)));
        }
        for (int i = 0; i < order.path("more").asInt(0); i++)
            flow.run(Step.of("pick", Integer.class).key("" + i), step -> 1);
        return "done";
    }

    /** A workflow that can be undone, and awaits a signal twice. */
    private static String approved(JsonNode order, Flow flow) {
        Signal<JsonNode> approval = Signal.of("approval", JsonNode.class);
        flow.run(Step.of("charge", JsonNode.class), step -> order, (paid, step) -> {});
        Optional<JsonNode> first = flow.await(approval, Duration.ofDays(7));
        flow.await(approval, Duration.ofDays(3));
        return first.map(JsonNode::toString).orElse("");
    }

    private CarillonServer start(int listenPort) {
        return start(builder -> builder.listen("127.0.0.1", listenPort));
    }

    /** Starts a further server on the same database; the caller closes it. */
    CarillonServer start(UnaryOperator<ServerBuilder> settings) {
        return settings.apply(CarillonServer.on(carillon, database.pool(8))
                        .webhooks(webhooks)
                        .listen("127.0.0.1", 0))
                .start();
    }

    /** Stops the server; {@link #resume} starts it on the same port. */
    void stop() {
        server.close();
    }

    void resume() {
        server = start(port);
    }

    String url() {
        return "http://127.0.0.1:" + port;
    }

    /** Returns the key of an admin. */
    String key() {
        return key;
    }

    String loginLink() {
        return server.loginLink(url(), key);
    }

    /** Sends a request to the API and returns the response, which must be a success. */
    JsonNode call(String method, String path, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url() + path))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body))
                .build();
        try {
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            assertThat(response.statusCode())
                    .as("%s %s: %s", method, path, response.body())
                    .isBetween(200, 299);
            return response.body().isEmpty() ? JSON.createObjectNode() : JSON.readTree(response.body());
        } catch (IOException | InterruptedException failure) {
            throw new AssertionError(method + " " + path, failure);
        }
    }

    JsonNode get(String path) {
        return call("GET", path, null);
    }

    /** Enqueues a run and returns its id. */
    String enqueue(String handler, String payload, String more) {
        return call(
                        "POST",
                        "/v1/runs",
                        "{\"target\":{\"handler\":\"%s\"},\"payload\":%s%s}".formatted(handler, payload, more))
                .path("run")
                .asString();
    }

    /** Enqueues a run that fails, executes it, and returns its id. */
    String makeDead(String queue, String error) {
        String run =
                enqueue("broken", "{\"error\":" + JSON.writeValueAsString(error) + "}", ",\"queue\":\"" + queue + "\"");
        runDue();
        assertThat(get("/v1/runs/" + run).path("state").asString()).isEqualTo("dead");
        return run;
    }

    void schedule(String name) {
        call(
                "PUT",
                "/v1/schedules/" + name,
                "{\"when\":{\"cron\":\"0 2 * * *\",\"zone\":\"Europe/Berlin\"},\"target\":{\"handler\":\"fine\"}}");
    }

    /** Writes what only nodes with other systems write, such as the state of a relay. */
    void execute(String sql) {
        database.execute(sql);
    }

    /** Executes all runs that are due. */
    void runDue() {
        call("POST", "/v1/run-due", "{\"budget\":\"5s\"}");
    }

    /** Creates a key with these scopes, as a JSON array, and returns {id, key}. */
    JsonNode createKey(String name, String scopes) {
        return call("POST", "/v1/keys", "{\"name\":%s,\"scopes\":%s}".formatted(JSON.writeValueAsString(name), scopes));
    }

    @Override
    public void close() {
        server.close();
        carillon.close();
        webhooks.close();
        database.close();
    }
}
