package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.openapi.OpenApiDescription;
import io.carillon.spi.Keyring;
import io.carillon.testkit.QueryResult;
import io.carillon.testkit.TestDatabase;
import io.carillon.webhook.guard.AddressPolicy;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A real server on a real database, called over HTTP; one per test class. Every response is validated against
 * the API description.
 */
public final class RestTestServer implements BeforeAllCallback, AfterAllCallback {
    static final JsonMapper JSON = OpenApiDescription.JSON;

    private final UnaryOperator<CarillonBuilder> carillonSettings;
    private final UnaryOperator<ServerBuilder> serverSettings;
    private final HttpClient client = HttpClient.newHttpClient();
    private TestDatabase database;
    private Carillon carillon;
    private ServerWebhooks webhooks;
    private CarillonServer server;
    private String bootstrap;

    public RestTestServer() {
        this(builder -> builder, server -> server);
    }

    public RestTestServer(UnaryOperator<CarillonBuilder> with, UnaryOperator<ServerBuilder> serving) {
        this.carillonSettings = with;
        this.serverSettings = serving;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        database = TestDatabase.migrated();
        webhooks = ServerWebhooks.on(database.pool(4))
                .keys(Keyring.parse(Keyring.newKey("first")))
                .guard(AddressPolicy.defaults().allow("127.0.0.1/32"))
                .build();
        carillon = carillonSettings
                .apply(webhooks.handleOn(Carillon.on(database.pool(8))))
                .build();
        server = start();
        bootstrap = server.bootstrapKey().orElseThrow();
    }

    public CarillonServer start() {
        return start(serverSettings);
    }

    /** Starts a further server with other settings. */
    public CarillonServer start(UnaryOperator<ServerBuilder> settings) {
        return settings.apply(CarillonServer.on(carillon, database.pool(8))
                        .webhooks(webhooks)
                        .listen("127.0.0.1", 0))
                .start();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        server.close();
        carillon.close();
        webhooks.close();
        database.close();
    }

    /** Executes the due runs. */
    public void runDue() {
        post(bootstrap, "/v1/run-due", "{\"budget\":\"5s\"}").requireStatus(200);
    }

    /** Creates today's partition of the history by ending a run. */
    public void createPartitionsOfToday() {
        String run = post(bootstrap, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                .requireStatus(201)
                .at("/run");
        post(bootstrap, "/v1/runs/" + run + "/cancel", null).requireStatus(200);
    }

    public CarillonServer server() {
        return server;
    }

    public TestDatabase database() {
        return database;
    }

    public Carillon carillon() {
        return carillon;
    }

    /** Returns the bootstrap key, an admin of the project default. */
    public String bootstrap() {
        return bootstrap;
    }

    /** A separate database in which only the bootstrap key exists. */
    public static final class FreshDatabase implements AutoCloseable {
        private final TestDatabase database = TestDatabase.migrated();
        private final Carillon carillon = Carillon.on(database.pool(6)).build();

        public CarillonServer start(String host) {
            return CarillonServer.on(carillon, database.pool(4)).listen(host, 0).start();
        }

        /** Starts a server that can store secrets. Its webhooks are closed with the database. */
        public CarillonServer start(Keyring keys) {
            return CarillonServer.on(carillon, database.pool(4))
                    .webhooks(ServerWebhooks.on(pool()).keys(keys).build())
                    .listen("127.0.0.1", 0)
                    .start();
        }

        public DataSource pool() {
            return database.pool(2);
        }

        @Override
        public void close() {
            carillon.close();
            database.close();
        }
    }

    /** A response. */
    public record Reply(int status, Map<String, java.util.List<String>> headers, String text) {
        public JsonNode json() {
            return JSON.readTree(text);
        }

        public String code() {
            return json().path("code").stringValue("");
        }

        public String at(String pointer) {
            return json().at(pointer).asString();
        }

        public Optional<String> header(String name) {
            return headers.entrySet().stream()
                    .filter(header -> header.getKey().equalsIgnoreCase(name))
                    .map(header -> header.getValue().get(0))
                    .findFirst();
        }

        public Reply requireStatus(int wanted) {
            assertThat(status).as(text).isEqualTo(wanted);
            return this;
        }
    }

    public Reply get(String key, String path) {
        return send(key, "GET", path, null);
    }

    public Reply post(String key, String path, String body) {
        return send(key, "POST", path, body);
    }

    public Reply put(String key, String path, String body) {
        return send(key, "PUT", path, body);
    }

    public Reply delete(String key, String path) {
        return send(key, "DELETE", path, null);
    }

    public Reply send(String key, String method, String path, String body, String... headers) {
        Reply reply = sendTo(server.port(), key, method, path, body, headers);
        OpenApiDescription.instance()
                .find(method, path)
                .ifPresent(operation -> assertThat(OpenApiDescription.instance()
                                .violations(
                                        operation,
                                        reply.status(),
                                        reply.header("Content-Type").orElse(""),
                                        reply.text()))
                        .as("%s %s answered %d", method, path, reply.status())
                        .isEmpty());
        assertThat(reply.status()).as("%s %s: %s", method, path, reply.text()).isNotIn(500, 501, 502);
        return reply;
    }

    public Reply sendTo(int port, String key, String method, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(30))
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (key != null) request.header("Authorization", "Bearer " + key);
        boolean typed = false;
        for (int i = 0; i < headers.length; i += 2) typed |= headers[i].equals("Content-Type");
        if (body != null && !typed) request.header("Content-Type", "application/json");
        for (int i = 0; i < headers.length; i += 2) request.header(headers[i], headers[i + 1]);
        try {
            HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return new Reply(response.statusCode(), response.headers().map(), response.body());
        } catch (IOException | InterruptedException failure) {
            throw new AssertionError(method + " " + path, failure);
        }
    }

    /** Creates a key of the project default with these scopes. */
    public String createKey(String... scopes) {
        return createKeyAs(bootstrap, scopes);
    }

    public String createKeyAs(String admin, String... scopes) {
        String list = String.join("\",\"", scopes);
        return post(admin, "/v1/keys", "{\"name\":\"test\",\"scopes\":[\"" + list + "\"]}")
                .requireStatus(201)
                .at("/key");
    }

    /** Creates a project and returns its admin key. */
    public String createProject(String name) {
        return post(bootstrap, "/v1/projects", "{\"name\":\"" + name + "\"}")
                .requireStatus(201)
                .at("/key");
    }

    /** Executes a query as the owner of the database. */
    public QueryResult query(String sql, Object... parameters) {
        return database.query(sql, parameters);
    }
}
