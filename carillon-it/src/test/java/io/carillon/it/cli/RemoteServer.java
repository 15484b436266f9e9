package io.carillon.it.cli;

import io.carillon.Carillon;
import io.carillon.HandlerOptions;
import io.carillon.cli.Main;
import io.carillon.cli.shell.Shell;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.server.CarillonServer;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.login.OidcSettings;
import io.carillon.spi.Keyring;
import io.carillon.testkit.TestDatabase;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Signal;
import io.carillon.workflow.Step;
import io.carillon.workflow.WorkflowType;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server with a node on a real database, for one test class. Commands run in this JVM. */
final class RemoteServer implements BeforeAllCallback, AfterAllCallback {
    /** The issuer of users. */
    static final String ISSUER = "https://id.example";

    private TestDatabase database;
    private Carillon carillon;
    private ServerWebhooks webhooks;
    private CarillonServer server;
    private String key;
    private Path home;

    /** The exit code and the output of a command. */
    record CommandResult(int exitCode, String out, String err) {
        JsonNode json() {
            return new JsonMapper().readTree(out);
        }
    }

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        home = Files.createTempDirectory("carillon-home");
        database = TestDatabase.migrated();
        webhooks = ServerWebhooks.on(database.pool(4))
                .keys(Keyring.parse(Keyring.newKey("test")))
                .guard(AddressPolicy.defaults().allow("127.0.0.1/32"))
                .build();
        carillon = webhooks.handleOn(Carillon.on(database.pool(8)))
                .handle(HandlerType.of("fine", JsonNode.class), (payload, run) -> run.log("done"))
                .handle(
                        HandlerType.of("broken", JsonNode.class),
                        (payload, run) -> {
                            throw new IllegalStateException("broken on purpose");
                        },
                        HandlerOptions.defaults()
                                .retry(Retry.exponential(Duration.ofMillis(1)).attempts(2)))
                .workflow(WorkflowType.of("checkout", JsonNode.class), RemoteServer::checkout)
                .start();
        server = CarillonServer.on(carillon, database.pool(8))
                .webhooks(webhooks)
                // No command calls the provider; the server only has to know its name.
                .provider(new OidcSettings(ISSUER, "client", Optional.empty(), Optional.empty()))
                .listen("127.0.0.1", 0)
                .start();
        key = server.bootstrapKey().orElseThrow();
    }

    /** A workflow that sleeps or awaits a signal if its input asks for it. */
    private static String checkout(JsonNode order, Flow flow) {
        flow.run(Step.of("charge", JsonNode.class), step -> order);
        for (JsonNode item : order.path("items"))
            flow.run(Step.of("pick", String.class).key(item.asString()), step -> "picked ".repeat(1_000));
        if (order.path("fails").asBoolean(false))
            flow.run(Step.of("broken", String.class).retry(Retry.none()), step -> {
                throw new IllegalStateException("broken");
            });
        if (order.path("sleeps").asBoolean(false)) flow.sleep("cooling-off", Duration.ofDays(3));
        if (order.path("approved").asBoolean(false))
            flow.await(Signal.of("approval", JsonNode.class), Duration.ofDays(7));
        return "done";
    }

    @Override
    public void afterAll(ExtensionContext context) {
        server.close();
        carillon.close();
        webhooks.close();
        database.close();
    }

    String url() {
        return "http://127.0.0.1:" + server.port();
    }

    String key() {
        return key;
    }

    /** The directory that contains the profiles. */
    Path home() {
        return home;
    }

    TestDatabase database() {
        return database;
    }

    CommandResult run(String... words) {
        return runWith(Map.of("CARILLON_URL", url(), "CARILLON_KEY", key), words);
    }

    CommandResult runWith(Map<String, String> environment, String... words) {
        return runWith(environment, InstantSource.system(), words);
    }

    /** Runs the command on a machine whose clock shows this instant. */
    CommandResult runAt(Instant now, String... words) {
        return runWith(Map.of("CARILLON_URL", url(), "CARILLON_KEY", key), InstantSource.fixed(now), words);
    }

    private CommandResult runWith(Map<String, String> environment, InstantSource clock, String... words) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Shell shell = shell(environment, out, err);
        int exit = Main.run(new Shell(shell.out(), shell.err(), shell.environment(), clock), words);
        return new CommandResult(exit, out.toString(), err.toString());
    }

    Shell shell(Map<String, String> environment, StringWriter out, StringWriter err) {
        Map<String, String> all = new HashMap<>(environment);
        all.putIfAbsent("CARILLON_HOME", home.toString());
        return new Shell(new PrintWriter(out, true), new PrintWriter(err, true), all, InstantSource.system());
    }
}
