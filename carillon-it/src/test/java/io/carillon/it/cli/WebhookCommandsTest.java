package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
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

/** Webhooks and their secrets by the command, on a running server that delivers to a real receiver. */
class WebhookCommandsTest {
    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    /** What came in. */
    record Got(String path, String body, List<String> signatures, String authorization) {}

    private static final List<Got> GOT = new CopyOnWriteArrayList<>();
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
            GOT.add(new Got(
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

    private static List<Got> got(String path) {
        return GOT.stream().filter(one -> one.path().equals(path)).toList();
    }

    private static String fine(String... words) {
        RemoteServer.Called called = SERVER.carillon(words);
        assertThat(called.exit()).as(called.err()).isZero();
        return called.out().strip();
    }

    @Test
    void a_schedule_and_a_run_call_it_and_the_run_shows_what_came_back() {
        fine("schedule", "create", "hook", "--every", "1d", "--webhook", url("/hook"), "--payload", "{\"a\":1}");
        assertThat(fine("schedule", "get", "hook", "-o", "yaml"))
                .contains("url: ")
                .contains("/hook");
        fine("schedule", "apply", "hook", "--every", "2d", "--webhook", url("/hook"), "--method", "put");
        assertThat(SERVER.carillon("schedule", "get", "hook", "-o", "json")
                        .json()
                        .at("/target/method")
                        .asString())
                .isEqualTo("PUT");

        String run = fine(
                "run", "enqueue", "--webhook", url("/run"), "--header", "x-team=a", "--payload", "[1]", "-o", "name");
        fine("run", "wait", run);
        assertThat(got("/run")).extracting(Got::body).containsExactly("[1]");
        assertThat(SERVER.carillon("run", "get", run, "-o", "json")
                        .json()
                        .at("/delivery/status")
                        .intValue())
                .isEqualTo(200);
        assertThat(fine("run", "replay", run)).startsWith("delivered: status 200");
        assertThat(got("/run")).hasSize(2);

        RemoteServer.Called odd = SERVER.carillon("run", "enqueue", "--webhook", "ftp://a.example");
        assertThat(odd.exit()).isEqualTo(2);
        assertThat(odd.err()).contains("/target/url");
        assertThat(SERVER.carillon("run", "enqueue", "fine", "--webhook", url("/x"))
                        .exit())
                .isEqualTo(2);
        assertThat(SERVER.carillon("run", "enqueue", "fine", "--secret", "x").err())
                .contains("Say --webhook, too");
    }

    @Test
    void a_secret_is_shown_once_signs_is_rotated_and_deleted() throws Exception {
        assertThat(fine("secret", "create", "orders")).startsWith("whsec_");
        Path file = folder.resolve("secret");
        fine("secret", "rotate", "orders", "--overlap", "1h", "--to", file.toString());
        assertThat(Files.readString(file)).startsWith("whsec_");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(fine("webhook", "test", url("/signed"), "--secret", "orders", "--payload", "{}"))
                .startsWith("delivered: status 200");
        assertThat(got("/signed").get(0).signatures()).hasSize(2);

        Path token = Files.writeString(folder.resolve("token"), "Bearer t0ps3cret\n");
        assertThat(fine("secret", "create", "token", "--from", token.toString()))
                .isEqualTo("Stored token.");
        fine("webhook", "test", url("/header"), "--secret-header", "authorization=token");
        assertThat(got("/header").get(0).authorization()).isEqualTo("Bearer t0ps3cret");
        assertThat(fine("secret", "list") + fine("secret", "get", "token", "-o", "json"))
                .contains("orders", "signing", "token", "value")
                .doesNotContain("t0ps3cret", "whsec_");

        assertThat(fine("webhook", "re-encrypt")).isEqualTo("0 secrets were sealed anew; 0 cannot be opened.");
        fine("secret", "delete", "orders");
        assertThat(SERVER.carillon("secret", "get", "orders").exit()).isEqualTo(3);
        assertThat(SERVER.carillon("webhook", "test", url("/signed"), "--secret", "orders")
                        .exit())
                .isEqualTo(2);
    }

    @Test
    void what_was_not_taken_is_told_by_the_exit_code() {
        RemoteServer.Called broken = SERVER.carillon("webhook", "test", url("/broken"));
        assertThat(broken.exit()).isEqualTo(10);
        assertThat(broken.out()).startsWith("failed: status 500");
        RemoteServer.Called blocked = SERVER.carillon("webhook", "test", "http://10.0.0.1/");
        assertThat(blocked.exit()).isEqualTo(10);
        assertThat(blocked.out()).contains("could not be reached");
    }
}
