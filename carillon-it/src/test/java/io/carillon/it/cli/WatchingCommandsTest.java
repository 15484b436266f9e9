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

/** {@code carillon audit}, {@code node} and {@code stream} against a running server: what was done, who does it, and what happens now. */
class WatchingCommandsTest {
    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    @Test
    void the_audit_log_tells_who_did_what_and_is_filtered() {
        SERVER.carillon("queue", "weigh", "watched", "3");
        SERVER.carillon("queue", "pause", "watched");

        RemoteServer.Called all = SERVER.carillon("audit", "list", "--object", "queue/watched");
        assertThat(all.exit()).as(all.err()).isZero();
        assertThat(all.out()).contains("ACTOR", "queue.pause", "queue.weigh");
        assertThat(SERVER.carillon(
                                "audit", "list", "--action", "queue.weigh", "--object", "queue/watched", "-o", "json")
                        .json())
                .hasSize(1);
        assertThat(SERVER.carillon("audit", "list", "--actor", "nobody", "-o", "name")
                        .out()
                        .strip())
                .isEmpty();
        assertThat(SERVER.carillon("audit", "list", "--limit", "1").err()).contains("There are more");
        String reader = SERVER.carillon("key", "create", "reader", "--scope", "read")
                .out()
                .strip();
        assertThat(SERVER.with(Map.of("CARILLON_URL", SERVER.url(), "CARILLON_KEY", reader), "audit", "list")
                        .exit())
                .isEqualTo(4);
    }

    @Test
    void nodes_are_listed_with_what_they_are_and_how_they_fare() {
        RemoteServer.Called listed = SERVER.carillon("node", "list", "-o", "json");

        assertThat(listed.json()).hasSize(1);
        assertThat(listed.json().at("/0/alive").booleanValue()).isTrue();
        assertThat(listed.json().at("/0/handlers").toString()).contains("\"fine\"");
        assertThat(SERVER.carillon("node", "list").out()).contains("NAME", "SLOTS", "HOST");
        RemoteServer.Called health = SERVER.carillon("node", "health");
        assertThat(health.exit()).as(health.out()).isZero();
        assertThat(health.out()).isEqualTo("Nothing is wrong.\n");
        assertThat(SERVER.carillon("node", "tick", "--budget", "1s").out())
                .matches("\\d+ runs were processed, 0 errors.\n");
        assertThat(SERVER.carillon("node", "tick", "--budget", "1h").exit()).isEqualTo(2);
    }

    @Test
    void what_is_wrong_is_told_with_its_exit_code() {
        SERVER.carillon("run", "enqueue", "nobody-has-this");

        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> SERVER.carillon("node", "health").exit() == 1);
        assertThat(SERVER.carillon("node", "health").out()).contains("nobody-has-this", "deploy it");
        assertThat(SERVER.carillon("node", "health", "-o", "name").out()).isEqualTo("handler-unknown\n");
        assertThat(SERVER.carillon("bulk", "cancel", "--state", "waiting", "--handler", "nobody-has-this", "--yes")
                        .exit())
                .isZero();
        assertThat(SERVER.carillon("node", "health").exit()).isZero();
    }

    @Test
    void the_stream_tells_what_happens_until_it_has_told_enough() throws Exception {
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

        // What happened before it listened is not told.
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> {
            SERVER.carillon("queue", "pause", "flowing");
            SERVER.carillon("queue", "resume", "flowing");
            return !listener.isAlive();
        });

        assertThat(exit).hasValue(0);
        assertThat(out.toString()).contains(" queue.resume queue/flowing\n").doesNotContain("queue.pause");
        assertThat(SERVER.with(Map.of("CARILLON_URL", SERVER.url(), "CARILLON_KEY", "crl_wrong"), "stream")
                        .exit())
                .isEqualTo(4);
        assertThat(SERVER.carillon("stream", "--url", "http://127.0.0.1:1").exit())
                .isEqualTo(7);
    }

    @Test
    void the_doctor_says_what_to_do_about_a_database_that_is_away() throws Exception {
        HttpServer half = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        half.createContext("/", exchange -> {
            boolean version = exchange.getRequestURI().getPath().equals("/version");
            byte[] answer = (version ? "{\"version\":\"1\"}" : "{\"status\":\"database away\"}")
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(version ? 200 : 503, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        half.start();
        try {
            RemoteServer.Called sick = SERVER.carillon(
                    "doctor", "--url", "http://127.0.0.1:" + half.getAddress().getPort());

            assertThat(sick.exit()).isEqualTo(1);
            assertThat(sick.out()).contains("its database", "see whether PostgreSQL runs", "the server's log");
        } finally {
            half.stop(0);
        }
    }
}
