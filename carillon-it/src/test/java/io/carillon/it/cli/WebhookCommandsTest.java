package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.carillon.cli.shell.SecretFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Webhooks and endpoints with the {@code carillon} command, against a server that delivers to a local receiver. */
class WebhookCommandsTest {
    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    record ReceivedRequest(String path, String body, List<String> signatures, String authorization) {}

    private static final List<ReceivedRequest> RECEIVED = new CopyOnWriteArrayList<>();
    private static HttpServer receiver;

    @TempDir
    Path folder;

    @BeforeAll
    static void listen() throws IOException {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        receiver.createContext("/", WebhookCommandsTest::handle);
        receiver.start();
    }

    private static void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            String signature = exchange.getRequestHeaders().getFirst("webhook-signature");
            RECEIVED.add(new ReceivedRequest(
                    path,
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8),
                    signature == null ? List.of() : List.of(signature.split(" ")),
                    String.valueOf(exchange.getRequestHeaders().getFirst("authorization"))));
            exchange.sendResponseHeaders(path.equals("/broken") ? 500 : 200, -1);
        }
    }

    @AfterAll
    static void stop() {
        receiver.stop(0);
    }

    private static String url(String path) {
        return "http://127.0.0.1:" + receiver.getAddress().getPort() + path;
    }

    private static List<ReceivedRequest> received(String path) {
        return RECEIVED.stream().filter(one -> one.path().equals(path)).toList();
    }

    private static String runSuccessfully(String... words) {
        RemoteServer.CommandResult commandResult = SERVER.run(words);
        assertThat(commandResult.exitCode()).as(commandResult.err()).isZero();
        return commandResult.out().strip();
    }

    @Test
    void a_schedule_and_a_run_deliver_and_the_run_shows_the_response() {
        runSuccessfully(
                "schedule", "create", "hook", "--every", "1d", "--webhook", url("/hook"), "--payload", "{\"a\":1}");
        assertThat(runSuccessfully("schedule", "get", "hook", "-o", "yaml"))
                .contains("url: ")
                .contains("/hook");
        runSuccessfully("schedule", "apply", "hook", "--every", "2d", "--webhook", url("/hook"), "--method", "put");
        assertThat(SERVER.run("schedule", "get", "hook", "-o", "json")
                        .json()
                        .at("/target/method")
                        .asString())
                .isEqualTo("PUT");

        String run = runSuccessfully(
                "run", "enqueue", "--webhook", url("/run"), "--header", "x-team=a", "--payload", "[1]", "-o", "name");
        runSuccessfully("run", "wait", run);
        assertThat(received("/run")).extracting(ReceivedRequest::body).containsExactly("[1]");
        assertThat(SERVER.run("run", "get", run, "-o", "json")
                        .json()
                        .at("/delivery/status")
                        .intValue())
                .isEqualTo(200);
        assertThat(runSuccessfully("run", "replay", run)).startsWith("delivered: status 200");
        assertThat(received("/run")).hasSize(2);
        assertThat(runSuccessfully("run", "list", "--state", "succeeded")).contains(url("/run"));
        assertThat(runSuccessfully("run", "get", run))
                .containsPattern("target.headers +x-team: a\n")
                .containsPattern("delivery.headers +\\S+: [^{}]+\n");

        assertThat(SERVER.run("endpoint", "test", "nosuch").err())
                .contains("No endpoint has this name. Create one with 'carillon endpoint create NAME URL'.");
        RemoteServer.CommandResult odd = SERVER.run("run", "enqueue", "--webhook", "ftp://a.example");
        assertThat(odd.exitCode()).isEqualTo(2);
        assertThat(odd.err()).contains("/target/url");
        assertThat(SERVER.run("run", "enqueue", "fine", "--webhook", url("/x")).exitCode())
                .isEqualTo(2);
        assertThat(SERVER.run("run", "enqueue", "fine", "--method", "GET").err())
                .contains("need --webhook");
    }

    @Test
    void an_endpoint_is_created_changed_called_rotated_and_deleted() throws Exception {
        Path token = folder.resolve("token");
        SecretFiles.write(token, "Bearer t0ps3cret\n");
        String secret = runSuccessfully(
                "endpoint",
                "create",
                "orders",
                url("/orders"),
                "--secret",
                "main",
                "--secret-header",
                "Authorization=" + token,
                "--running",
                "5");
        assertThat(secret).startsWith("whsec_");
        Path file = folder.resolve("secret");
        runSuccessfully("endpoint", "rotate", "orders", "--secret", "main", "--overlap", "1h", "--to", file.toString());
        assertThat(Files.readString(file)).startsWith("whsec_");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(runSuccessfully("endpoint", "test", "orders", "--payload", "{}"))
                .startsWith("delivered: status 200");
        assertThat(received("/orders").get(0).signatures()).hasSize(2);
        assertThat(received("/orders").get(0).authorization()).isEqualTo("Bearer t0ps3cret");
        assertThat(runSuccessfully("endpoint", "list") + runSuccessfully("endpoint", "get", "orders", "-o", "json"))
                .contains("orders", "signing", "authorization", "endpoint.orders")
                .doesNotContain("t0ps3cret", "whsec_");

        assertThat(runSuccessfully("endpoint", "update", "orders", "--method", "put", "--total-timeout", "9s"))
                .isEqualTo("Changed orders.");
        RemoteServer.CommandResult moved = SERVER.run("endpoint", "update", "orders", "https://else.example/");
        assertThat(moved.exitCode()).isEqualTo(5);
        assertThat(moved.err()).contains("missing: authorization, main");
        assertThat(runSuccessfully("endpoint", "update", "orders", "--secret", "second"))
                .startsWith("whsec_");

        String run = runSuccessfully("run", "enqueue", "--endpoint", "orders", "--payload", "[1]", "-o", "name");
        runSuccessfully("run", "wait", run);
        assertThat(received("/orders").get(1).signatures()).hasSize(3);
        assertThat(runSuccessfully("run", "list", "--queue", "endpoint.orders"))
                .containsPattern("succeeded +endpoint orders +1 ")
                .doesNotContain("QUEUE");
        assertThat(runSuccessfully("endpoint", "get", "orders")).containsPattern("secrets.1.name +main\n");
        assertThat(SERVER.run("run", "enqueue", "--endpoint", "orders", "--method", "GET")
                        .err())
                .contains("settings of the endpoint");
        assertThat(runSuccessfully("endpoint", "re-encrypt"))
                .isEqualTo("0 secrets were re-encrypted; 0 cannot be decrypted.");

        runSuccessfully("schedule", "create", "daily", "--every", "1d", "--endpoint", "orders");
        RemoteServer.CommandResult used = SERVER.run("endpoint", "delete", "orders");
        assertThat(used.exitCode()).isEqualTo(5);
        assertThat(used.err())
                .contains("used by 1 schedule, 0 subscriptions and ", "or give --force to pause them")
                .doesNotContain("1 schedules");
        runSuccessfully("schedule", "update", "daily", "--webhook", url("/hook"));
        assertThat(SERVER.run("schedule", "get", "daily", "-o", "json")
                        .json()
                        .at("/queue")
                        .asString())
                .isEqualTo("webhooks");
        runSuccessfully("schedule", "update", "daily", "--endpoint", "orders");
        runSuccessfully("endpoint", "delete", "orders", "--force");
        assertThat(SERVER.run("endpoint", "get", "orders").exitCode()).isEqualTo(3);
        runSuccessfully("schedule", "delete", "daily");
    }

    @Test
    void an_ed25519_secret_prints_its_public_key_and_a_paused_queue_is_mentioned() throws Exception {
        String publicKey = runSuccessfully(
                "endpoint", "create", "pair", url("/pair"), "--secret", "main", "--algorithm", "ed25519");
        assertThat(publicKey).startsWith("whpk_");
        Path file = folder.resolve("public");
        assertThat(runSuccessfully("endpoint", "rotate", "pair", "--to", file.toString()))
                .contains("The public key was written to");
        assertThat(Files.readString(file).strip()).startsWith("whpk_").isNotEqualTo(publicKey);
        assertThat(runSuccessfully("endpoint", "update", "pair", "--method", "put"))
                .isEqualTo("Changed pair.");
        assertThat(runSuccessfully("endpoint", "rotate", "pair", "--algorithm", "hmac-sha256"))
                .startsWith("whsec_");
        assertThat(SERVER.run("endpoint", "rotate", "pair", "--algorithm", "rsa")
                        .exitCode())
                .isEqualTo(2);

        runSuccessfully("queue", "pause", "endpoint.pair", "--reason", "moving");
        assertThat(SERVER.run("endpoint", "update", "pair", "--method", "post").err())
                .contains("Its queue is paused (moving). 'carillon queue resume endpoint.pair' resumes it.");
    }

    @Test
    void an_endpoint_has_retries_for_its_runs_and_an_update_changes_parts_of_them() {
        runSuccessfully("endpoint", "create", "flaky", url("/broken"), "--attempts", "2", "--retry-first", "0s");
        String run = runSuccessfully("run", "enqueue", "--endpoint", "flaky", "-o", "name");

        assertThat(SERVER.run("run", "wait", run).exitCode()).isEqualTo(10);
        assertThat(SERVER.run("run", "get", run, "-o", "json")
                        .json()
                        .path("failures")
                        .intValue())
                .isEqualTo(2);
        runSuccessfully("endpoint", "update", "flaky", "--retry-cap", "1m");
        assertThat(SERVER.run("endpoint", "get", "flaky", "-o", "json")
                        .json()
                        .path("retry")
                        .toString())
                .isEqualTo("{\"attempts\":2,\"first\":\"PT0S\",\"factor\":2.0,\"cap\":\"PT1M\",\"jitter\":1.0}");
        runSuccessfully("endpoint", "delete", "flaky");
    }

    @Test
    void a_project_forbids_urls_that_are_not_endpoints() {
        runSuccessfully("project", "settings", "default", "--ad-hoc-urls", "false");
        try {
            RemoteServer.CommandResult refused = SERVER.run("webhook", "test", url("/x"));
            assertThat(refused.exitCode()).isEqualTo(2);
            assertThat(refused.err()).contains("allows endpoints only");
        } finally {
            runSuccessfully("project", "settings", "default", "--ad-hoc-urls", "true");
        }
    }

    @Test
    void a_rejected_delivery_sets_the_exit_code() {
        RemoteServer.CommandResult broken = SERVER.run("webhook", "test", url("/broken"));
        assertThat(broken.exitCode()).isEqualTo(10);
        assertThat(broken.out()).startsWith("failed: status 500");
        RemoteServer.CommandResult blocked = SERVER.run("webhook", "test", "http://10.0.0.1/");
        assertThat(blocked.exitCode()).isEqualTo(10);
        assertThat(blocked.out()).contains("could not be reached");
    }
}
