package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.http.Route;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients that announce a body and do not send it hold neither a thread nor a request permit. */
class WithheldBodiesTest {
    private static final int CONNECTIONS = 200;
    private static final long BODY_MEMORY = 32 * 1024 * 1024;

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(builder -> builder, server -> {
        server.bodyMemory = BODY_MEMORY;
        return server.maxConnectionsPerAddress(0);
    });

    @RegisterExtension
    static final RestTestServer IMPATIENT = new RestTestServer(builder -> builder, server -> {
        server.bodyGrace = Duration.ofMillis(300);
        return server;
    });

    /** Announces a body, and returns when the server waits for it. */
    private static Socket announceBody(String line, String... headers) throws IOException {
        Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), SERVER.server().port());
        socket.setSoTimeout(10_000);
        List<String> head = new ArrayList<>(List.of(
                line,
                "Host: localhost",
                "Content-Type: application/json",
                "Content-Length: 1000",
                "Expect: 100-continue"));
        head.addAll(List.of(headers));
        socket.getOutputStream().write((String.join("\r\n", head) + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        String status = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
        assertThat(status).isEqualTo("HTTP/1.1 100");
        return socket;
    }

    @Test
    @Timeout(60)
    void health_and_requests_are_answered_within_a_second_beside_200_withheld_bodies() throws IOException {
        SERVER.get(SERVER.bootstrap(), "/v1/stats").requireStatus(200);
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < CONNECTIONS; i++)
                sockets.add(
                        i % 2 == 0
                                ? announceBody("POST /v1/runs/run_00000000000000000000000000/complete HTTP/1.1")
                                : announceBody(
                                        "POST /v1/runs HTTP/1.1", "Authorization: Bearer " + SERVER.bootstrap()));
            for (String path : List.of("/healthz", "/readyz", "/v1/stats")) {
                long began = System.nanoTime();
                SERVER.get(SERVER.bootstrap(), path).requireStatus(200);
                assertThat(Duration.ofNanos(System.nanoTime() - began)).as(path).isLessThan(Duration.ofSeconds(1));
            }
        } finally {
            for (Socket socket : sockets) socket.close();
        }
    }

    @Test
    @Timeout(60)
    void the_bodies_of_one_project_leave_memory_to_other_projects() throws IOException {
        String greedy = SERVER.createProject("greedy");
        String shop = SERVER.createProject("shop");
        int length = Route.MAX_BODY_BYTES;
        // A body is in memory twice while it arrives.
        long bodies = BODY_MEMORY / (2L * length) + 1;
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < bodies; i++) sockets.add(withholdLastByte(greedy, length));
            await().until(() -> {
                for (Socket socket : sockets) if (socket.getInputStream().available() > 0) return true;
                return false;
            });

            String run = "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}";
            SERVER.post(shop, "/v1/runs", run + " ".repeat(length - run.length()))
                    .requireStatus(201);
        } finally {
            for (Socket socket : sockets) socket.close();
        }
    }

    private static Socket withholdLastByte(String key, int length) throws IOException {
        Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), SERVER.server().port());
        String head = """
                POST /v1/runs HTTP/1.1\r
                Host: localhost\r
                Authorization: Bearer %s\r
                Content-Type: application/json\r
                Content-Length: %d\r
                \r
                """;
        try {
            socket.getOutputStream().write(head.formatted(key, length).getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().write(" ".repeat(length - 1).getBytes(StandardCharsets.US_ASCII));
        } catch (IOException refusedBeforeItWasComplete) {
            // The server has closed the connection.
        }
        return socket;
    }

    @Test
    @Timeout(20)
    void a_body_that_arrives_too_slowly_is_given_up() throws IOException {
        RawHttp.Request request = new RawHttp.Request(
                "POST /v1/runs HTTP/1.1",
                List.of(
                        "Host: localhost",
                        "Authorization: Bearer " + IMPATIENT.bootstrap(),
                        "Content-Type: application/json",
                        "Content-Length: 1000"),
                "{".getBytes(StandardCharsets.US_ASCII));

        RestTestServer.Reply reply = RawHttp.sendIncomplete(IMPATIENT.server().port(), request);

        assertThat(reply.requireStatus(400).code()).isEqualTo("body-incomplete");
        assertThat(reply.text()).contains("too slowly");
        assertThat(reply.header("Connection")).contains("close");
    }

    @Test
    void operations_without_a_body_refuse_one_without_waiting_for_it() {
        for (String line : List.of("GET /healthz", "HEAD /healthz", "GET /v1/runs", "DELETE /v1/schedules/none"))
            for (String header : List.of("Content-Length: 1000", "Transfer-Encoding: chunked")) {
                RestTestServer.Reply reply = RawHttp.sendIncomplete(
                        SERVER.server().port(),
                        new RawHttp.Request(
                                line + " HTTP/1.1",
                                List.of("Host: localhost", "Authorization: Bearer " + SERVER.bootstrap(), header),
                                new byte[0]));
                assertThat(reply.status()).as("%s with %s", line, header).isEqualTo(400);
                assertThat(reply.header("Connection")).contains("close");
                if (!line.startsWith("HEAD")) assertThat(reply.code()).isEqualTo("unexpected-body");
            }
    }

    @Test
    void callers_without_a_key_are_refused_before_their_body_was_read() {
        RestTestServer.Reply reply = RawHttp.sendIncomplete(
                SERVER.server().port(),
                new RawHttp.Request(
                        "POST /v1/runs HTTP/1.1",
                        List.of("Host: localhost", "Content-Type: application/json", "Content-Length: 1000"),
                        new byte[0]));

        assertThat(reply.requireStatus(401).header("Connection")).contains("close");
    }
}
