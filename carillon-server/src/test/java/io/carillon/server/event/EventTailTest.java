package io.carillon.server.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.CarillonServer;
import io.carillon.server.RestTestServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A tail sends the events of a topic in their order, and continues without a gap on any server. */
class EventTailTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static void publish(String key, String topic, String type, String data) {
        SERVER.post(
                        key,
                        "/v1/events",
                        "{\"topic\":\"%s\",\"type\":\"%s\",\"data\":\"%s\"}".formatted(topic, type, data))
                .requireStatus(201);
        // Gives the event a position.
        SERVER.runDue();
    }

    private static HttpResponse<InputStream> listen(int port, String key, String query, String lastEventId)
            throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + port + "/v1/events:tail?" + query))
                .header("Authorization", "Bearer " + key);
        if (lastEventId != null) request.header("Last-Event-ID", lastEventId);
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    }

    private static BufferedReader tail(String key, String query) throws Exception {
        return lines(listen(SERVER.server().port(), key, query, null));
    }

    private static BufferedReader lines(HttpResponse<InputStream> response) {
        assertThat(response.statusCode()).isEqualTo(200);
        return new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    }

    /** A stream sends at least a comment every second, so the loop ends. */
    private static String readUntil(BufferedReader lines, String wanted) throws IOException {
        StringBuilder heard = new StringBuilder();
        long end = System.nanoTime() + Duration.ofSeconds(25).toNanos();
        for (String line = lines.readLine(); line != null && System.nanoTime() < end; line = lines.readLine()) {
            heard.append(line).append('\n');
            if (line.contains(wanted)) return heard.toString();
        }
        throw new AssertionError("the stream did not send " + wanted + ": " + heard);
    }

    private static String lastId(String heard) {
        return heard.lines()
                .filter(line -> line.startsWith("id: "))
                .reduce((one, other) -> other)
                .orElseThrow()
                .substring(4);
    }

    @Test
    @Timeout(60)
    void sends_later_events_of_the_topic_that_match_and_no_others() throws Exception {
        String key = SERVER.createProject("mine");
        String other = SERVER.createProject("other");
        publish(key, "orders", "order.placed", "earlier");
        try (BufferedReader lines = tail(key, "topic=orders&type=order.*")) {
            readUntil(lines, ":");
            publish(other, "orders", "order.placed", "foreign");
            publish(key, "stock", "order.placed", "elsewhere");
            publish(key, "orders", "invoice.sent", "other-type");
            publish(key, "orders", "order.paid", "wanted");

            String heard = readUntil(lines, "\"wanted\"");

            assertThat(heard)
                    .contains("event: published")
                    .doesNotContain("earlier", "foreign", "elsewhere", "other-type");
        }
    }

    @Test
    @Timeout(60)
    void a_reconnect_continues_behind_the_last_event_on_any_server() throws Exception {
        String key = SERVER.createProject("reconnecting");
        String last;
        try (BufferedReader lines = tail(key, "topic=orders")) {
            readUntil(lines, ":");
            publish(key, "orders", "a", "first");
            last = lastId(readUntil(lines, "\"first\""));
        }
        publish(key, "orders", "a", "second");
        publish(key, "orders", "a", "third");
        try (CarillonServer another = SERVER.start();
                BufferedReader lines = lines(listen(another.port(), key, "topic=orders", last))) {
            String heard = readUntil(lines, "\"third\"");
            assertThat(heard).contains("\"second\"").doesNotContain("\"first\"");
        }
        // The id of a message is a position of the list too, and the other way round.
        assertThat(SERVER.get(key, "/v1/events?topic=orders&after=" + last)
                        .requireStatus(200)
                        .json()
                        .path("items"))
                .hasSize(2);
        assertThat(listen(SERVER.server().port(), SERVER.bootstrap(), "topic=orders", last)
                        .statusCode())
                .isEqualTo(400);
    }

    @Test
    @Timeout(60)
    void tails_and_streams_share_the_quota_of_the_project() throws Exception {
        String key = SERVER.createProject("crowded");
        SERVER.put(SERVER.bootstrap(), "/v1/projects/crowded/quota", "{\"maxStreams\":2}")
                .requireStatus(200);
        List<BufferedReader> open = new ArrayList<>();
        try {
            for (int i = 0; i < 2; i++) open.add(tail(key, "topic=orders"));

            assertThat(SERVER.get(key, "/v1/stream").requireStatus(429).code()).isEqualTo("quota-exceeded");
            SERVER.get(key, "/v1/events:tail?topic=orders").requireStatus(429);
            open.remove(0).close();
            await().atMost(Duration.ofSeconds(20)).until(() -> {
                HttpResponse<InputStream> again = listen(SERVER.server().port(), key, "topic=orders", null);
                if (again.statusCode() == 200) open.add(lines(again));
                return again.statusCode() == 200;
            });
        } finally {
            for (BufferedReader lines : open) lines.close();
        }
    }
}
