package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.carillon.cli.Main;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code carillon audit}, {@code node} and {@code stream} against a running server. */
class WatchingCommandsTest {
    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    @Test
    void the_audit_log_shows_actor_and_action_and_is_filtered() {
        SERVER.run("queue", "weight", "watched", "3");
        SERVER.run("queue", "pause", "watched");

        RemoteServer.CommandResult all = SERVER.run("audit", "list", "--object", "queue/watched");
        assertThat(all.exitCode()).as(all.err()).isZero();
        assertThat(all.out()).contains("ACTOR", "queue.pause", "queue.weight");
        assertThat(SERVER.run("audit", "list", "--action", "queue.weight", "--object", "queue/watched", "-o", "json")
                        .json())
                .hasSize(1);
        assertThat(SERVER.run("audit", "list", "--actor", "key absent", "-o", "name")
                        .out()
                        .strip())
                .isEmpty();
        assertThat(SERVER.run("audit", "list", "--limit", "1").err()).contains("More than 1 item exists");
        String reader =
                SERVER.run("key", "create", "reader", "--scope", "read").out().strip();
        assertThat(SERVER.runWith(Map.of("CARILLON_URL", SERVER.url(), "CARILLON_KEY", reader), "audit", "list")
                        .exitCode())
                .isEqualTo(4);
    }

    @Test
    void nodes_are_listed_with_their_state_and_health() {
        RemoteServer.CommandResult listed = SERVER.run("node", "list", "-o", "json");

        assertThat(listed.json()).hasSize(1);
        assertThat(listed.json().at("/0/alive").booleanValue()).isTrue();
        assertThat(listed.json().at("/0/handlers").toString()).contains("\"fine\"");
        assertThat(SERVER.run("node", "list").out()).contains("NAME", "SLOTS", "HOST");
        RemoteServer.CommandResult health = SERVER.run("node", "health");
        assertThat(health.exitCode()).as(health.out()).isZero();
        assertThat(health.out()).isEqualTo("No problems.\n");
        assertThat(SERVER.run("node", "run-due", "--budget", "1s").out())
                .matches("\\d+ runs were processed, 0 errors.\n");
        assertThat(SERVER.run("node", "run-due", "--budget", "1h").exitCode()).isEqualTo(2);
    }

    @Test
    void health_issues_set_the_exit_code() {
        SERVER.run("run", "enqueue", "missing-handler");

        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> SERVER.run("node", "health").exitCode() == 1);
        assertThat(SERVER.run("node", "health").out()).contains("missing-handler", "deploy the handler");
        assertThat(SERVER.run("node", "health", "-o", "name").out()).isEqualTo("handler-unknown\n");
        assertThat(SERVER.run("bulk", "cancel", "--state", "waiting", "--handler", "missing-handler", "--yes")
                        .exitCode())
                .isZero();
        assertThat(SERVER.run("node", "health").exitCode()).isZero();
    }

    @Test
    void the_stream_shows_events_up_to_the_requested_count() throws Exception {
        StringWriter out = new StringWriter();
        AtomicInteger exit = new AtomicInteger(-1);
        Map<String, String> environment = Map.of("CARILLON_URL", SERVER.url(), "CARILLON_KEY", SERVER.key());
        Thread listener = new Thread(() -> exit.set(Main.run(
                SERVER.shell(environment, out, new StringWriter()),
                "stream",
                "--event",
                "queue.resume",
                "--count",
                "1")));
        listener.start();

        // The stream contains no events from before its start.
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> {
            SERVER.run("queue", "pause", "flowing");
            SERVER.run("queue", "resume", "flowing");
            return !listener.isAlive();
        });

        assertThat(exit).hasValue(0);
        assertThat(out.toString()).contains(" queue.resume queue/flowing\n").doesNotContain("queue.pause");
        assertThat(SERVER.runWith(Map.of("CARILLON_URL", SERVER.url(), "CARILLON_KEY", "crl_wrong"), "stream")
                        .exitCode())
                .isEqualTo(4);
        assertThat(SERVER.run("stream", "--url", "http://127.0.0.1:1").exitCode())
                .isEqualTo(7);
    }

    @Test
    void the_doctor_gives_advice_about_an_unreachable_database() throws Exception {
        HttpServer notReady = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        notReady.createContext("/", exchange -> {
            boolean version = exchange.getRequestURI().getPath().equals("/version");
            byte[] answer = (version ? "{\"version\":\"1\"}" : "{\"status\":\"database away\"}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(version ? 200 : 503, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        notReady.start();
        try {
            RemoteServer.CommandResult checked = SERVER.run(
                    "doctor",
                    "--url",
                    "http://127.0.0.1:" + notReady.getAddress().getPort());

            assertThat(checked.exitCode()).isEqualTo(1);
            assertThat(checked.out()).contains("server database", "check that PostgreSQL runs", "the server's log");
        } finally {
            notReady.stop(0);
        }
    }
}
