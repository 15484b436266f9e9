package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Large responses use a limited amount of memory: while they are built, and until slow clients have read them. */
class LargeResponsesTest {
    private static final int PAYLOAD = 200_000;

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(builder -> builder, server -> {
        server.bodyMemory = 32 * 1024 * 1024;
        return server.maxConnectionsPerAddress(0);
    });

    private static void createSchedules(String key, int count) {
        for (int i = 0; i < count; i++)
            SERVER.put(
                            key,
                            "/v1/schedules/report-" + (char) ('a' + i),
                            "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"handler\":\"report\"},\"payload\":\""
                                    + "x".repeat(PAYLOAD) + "\"}")
                    .requireStatus(201);
    }

    @Test
    void a_list_with_large_payloads_has_shorter_pages() {
        String key = SERVER.createProject("large");
        createSchedules(key, 13);

        TreeSet<String> names = new TreeSet<>();
        String cursor = "";
        int pages = 0;
        do {
            RestTestServer.Reply page =
                    SERVER.get(key, "/v1/schedules?limit=200" + cursor).requireStatus(200);
            assertThat(page.text().length()).isLessThan(2_000_000);
            for (JsonNode item : page.json().path("items"))
                assertThat(names.add(item.path("name").stringValue())).isTrue();
            cursor = page.json().has("next") ? "&cursor=" + page.at("/next") : "";
            pages++;
        } while (!cursor.isEmpty());

        assertThat(names).hasSize(13);
        assertThat(pages).isEqualTo(3);
        SERVER.get(key, "/v1/timeline?limit=200").requireStatus(200);
        RestTestServer.Reply exact = SERVER.get(key, "/v1/schedules?prefix=report-c");
        assertThat(exact.json().path("items")).hasSize(1);
        assertThat(exact.json().has("next")).isFalse();
    }

    @Test
    @Timeout(90)
    void responses_that_a_project_does_not_read_leave_memory_to_other_projects() throws IOException {
        String greedy = SERVER.createProject("greedy");
        String shop = SERVER.createProject("shop");
        createSchedules(greedy, 6);
        createSchedules(shop, 6);
        List<Socket> sockets = new ArrayList<>();
        AtomicReference<RestTestServer.Reply> refused = new AtomicReference<>();
        try {
            await().atMost(Duration.ofSeconds(40)).until(() -> {
                if (sockets.size() < 40) sockets.add(requestWithoutReading(greedy, "/v1/schedules"));
                refused.set(SERVER.get(greedy, "/v1/schedules"));
                return refused.get().status() == 503;
            });

            assertThat(refused.get().text()).contains("responses that its clients have not read");
            SERVER.get(shop, "/v1/schedules").requireStatus(200);
            SERVER.get(greedy, "/v1/session").requireStatus(200);
        } finally {
            for (Socket socket : sockets) socket.close();
        }
        await().until(() -> SERVER.get(greedy, "/v1/schedules").status() == 200);
    }

    private static Socket requestWithoutReading(String key, String path) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4 * 1024);
        socket.connect(new InetSocketAddress(
                InetAddress.getLoopbackAddress(), SERVER.server().port()));
        // The operating system keeps some megabytes of responses, then the server has to.
        socket.getOutputStream()
                .write("GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n"
                        .formatted(path, key)
                        .repeat(8)
                        .getBytes(StandardCharsets.US_ASCII));
        socket.setSoTimeout(30_000);
        // The first byte: the server has built the response.
        assertThat(socket.getInputStream().read()).isEqualTo('H');
        return socket;
    }
}
