package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.access.PlaintextApiKey;
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
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The events of a project are sent to its listeners, and to no listener of another project. */
class StreamTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    @Test
    @Timeout(30)
    void streams_changes_and_ended_runs_of_the_callers_project() throws Exception {
        String mine = SERVER.createProject("mine");
        String other = SERVER.createProject("other");
        HttpResponse<InputStream> response = listen(mine);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).contains("text/event-stream");
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            assertThat(lines.readLine()).isEqualTo("retry: 2000");
            String theirs = SERVER.post(other, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                    .at("/run");
            SERVER.post(other, "/v1/runs/" + theirs + "/cancel", null).requireStatus(200);
            String run = SERVER.post(mine, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                    .at("/run");
            SERVER.post(mine, "/v1/runs/" + run + "/cancel", null).requireStatus(200);

            String heard = readUntil(lines, "event: run.ended");
            assertThat(heard + lines.readLine()).contains(run, "\"cancelled\"").doesNotContain(theirs);
            assertThat(heard + readUntil(lines, "event: run.cancel")).contains("event: run.enqueue");
        }
    }

    @Test
    @Timeout(60)
    void a_burst_is_streamed_and_so_are_single_runs_after_it() throws Exception {
        String key = SERVER.createProject("burst");
        SERVER.createPartitionsOfToday();
        HttpResponse<InputStream> response = listen(key);
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            assertThat(lines.readLine()).isEqualTo("retry: 2000");
            // 1,000 ended runs in each of three consecutive seconds of the database clock.
            SERVER.database().execute("""
                    INSERT INTO carillon.run_history (project, id, day, queue, priority, node_deaths, crashes, attempt,
                      failures, due_at, ended_at, created_at,
                                                      state, origin, target, target_name)
                    SELECT 'burst', gen_random_uuid(), (carillon.clock() AT TIME ZONE 'UTC')::date, 'q', 1, 0, 0, 1, 0,
                           at, at, at, 'succeeded', 'direct',
                           'handler', 'burst-' || i
                      FROM (SELECT i, carillon.clock() + i * interval '1 ms' AS at
                        FROM generate_series(1, 3000) i) ended
                    """);
            int received = 0;
            int messages = 0;
            long start = System.nanoTime();
            while (received < 3_000) {
                String data = readUntilContains(lines, "burst-");
                received += data.split("\"name\":\"burst-", -1).length - 1;
                messages++;
            }
            assertThat(received).isEqualTo(3_000);
            assertThat(messages)
                    .as("four a second")
                    .isLessThanOrEqualTo(4
                            * (1
                                    + (int) Duration.ofNanos(System.nanoTime() - start)
                                            .toSeconds()
                                    + 1));
            String run = SERVER.post(key, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                    .at("/run");
            SERVER.post(key, "/v1/runs/" + run + "/cancel", null).requireStatus(200);

            readUntil(lines, "event: run.ended");
            assertThat(lines.readLine()).contains(run);
        }
    }

    @Test
    @Timeout(30)
    void a_stream_ends_with_an_event_after_its_key_was_revoked() throws Exception {
        String key = SERVER.createKey("read");
        String session = cookieOf(key);
        try (BufferedReader byKey = lines(listen(key));
                BufferedReader byCookie = lines(listen("Cookie", session))) {
            readUntil(byKey, ":");
            readUntil(byCookie, ":");

            SERVER.delete(
                            SERVER.bootstrap(),
                            "/v1/keys/"
                                    + PlaintextApiKey.parse(key).orElseThrow().id())
                    .requireStatus(204);
            long revoked = System.nanoTime();

            for (BufferedReader lines : List.of(byKey, byCookie)) {
                readUntil(lines, "event: stream.ended");
                assertThat(lines.readLine()).contains("no longer valid");
                assertThat(lines.readLine()).isEmpty();
                assertThat(lines.readLine()).isNull();
            }
            assertThat(Duration.ofNanos(System.nanoTime() - revoked)).isLessThan(Duration.ofSeconds(10));
        }
    }

    @Test
    @Timeout(30)
    void changes_of_keys_are_streamed_to_admins_only() throws Exception {
        String admin = SERVER.createProject("scopes");
        String reader = SERVER.createKeyAs(admin, "read");
        try (BufferedReader byAdmin = lines(listen(admin));
                BufferedReader byReader = lines(listen(reader))) {
            readUntil(byAdmin, ":");
            readUntil(byReader, ":");
            SERVER.createKeyAs(admin, "read");
            SERVER.post(admin, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                    .requireStatus(201);

            assertThat(readUntil(byReader, "event: run.enqueue")).doesNotContain("key.make");
            assertThat(readUntil(byAdmin, "event: run.enqueue")).contains("key.make");
        }
    }

    @Test
    @Timeout(30)
    void a_project_has_a_limited_number_of_streams_and_ended_ones_do_not_count() throws Exception {
        String key = SERVER.createProject("many");
        String other = SERVER.createProject("few");
        List<BufferedReader> open = new ArrayList<>();
        try {
            for (int i = 0; i < 20; i++) open.add(lines(listen(key)));
            HttpResponse<InputStream> refused = listen(key);
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.headers().firstValue("Retry-After")).isPresent();
            assertThat(new String(refused.body().readAllBytes(), StandardCharsets.UTF_8))
                    .contains("quota-exceeded");
            open.add(lines(listen(other)));
            open.remove(0).close();
            await().atMost(Duration.ofSeconds(10)).until(() -> {
                HttpResponse<InputStream> again = listen(key);
                open.add(lines(again));
                return again.statusCode() == 200;
            });
        } finally {
            for (BufferedReader lines : open) lines.close();
        }
    }

    @Test
    void head_is_refused_and_starts_no_stream() {
        for (int i = 0; i < 25; i++) {
            RestTestServer.Reply reply = SERVER.sendTo(
                            SERVER.server().port(), SERVER.bootstrap(), "HEAD", "/v1/stream", null)
                    .requireStatus(405);
            assertThat(reply.header("Allow")).contains("GET");
        }
    }

    @Test
    @Timeout(30)
    void a_reconnect_continues_after_the_last_event_on_any_server() throws Exception {
        String key = SERVER.createProject("reconnect");
        String last;
        try (BufferedReader lines = lines(listen(key))) {
            readUntil(lines, ":");
            cancelledRun(key);
            last = idBefore(lines, "event: run.cancel");
        }
        String missed = cancelledRun(key);
        try (CarillonServer other = SERVER.start();
                BufferedReader lines = lines(listen(other.port(), key, last))) {
            String heard = readUntilContains(lines, "\"run\":\"" + missed);
            assertThat(heard).doesNotContain("id: " + last, "events.lost");

            // The shared stream of this server finds the events of the missed run too.
            String next = cancelledRun(key);
            assertThat(readUntilContains(lines, "\"run\":\"" + next)).doesNotContain("\"run\":\"" + missed);
        }
    }

    @Test
    @Timeout(30)
    void a_quiet_stream_has_a_position_to_continue_from() throws Exception {
        String key = SERVER.createProject("quiet");
        String position;
        try (BufferedReader lines = lines(listen(key))) {
            readUntil(lines, ":");
            position = lines.readLine();
        }
        assertThat(position).startsWith("id: ");
        String missed = cancelledRun(key);
        try (BufferedReader lines = lines(listen(SERVER.server().port(), key, position.substring(4)))) {
            assertThat(readUntil(lines, "event: run.ended") + lines.readLine())
                    .contains(missed)
                    .doesNotContain("events.lost");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"1", "1767225600000000-01a2b3c4-0000-7000-8000-000000000001", "99999999999999999", "theirs"})
    @Timeout(30)
    void a_client_that_was_away_too_long_learns_that_events_were_lost(String last) throws Exception {
        String key = SERVER.createProject("away-" + last.length());
        try (BufferedReader lines = lines(listen(SERVER.server().port(), key, last))) {
            String position = idBefore(lines, "event: events.lost");

            assertThat(Long.parseLong(position)).isPositive();
            String run = cancelledRun(key);
            readUntil(lines, "event: run.ended");
            assertThat(lines.readLine()).contains(run);
        }
    }

    private static String cancelledRun(String key) {
        String run = SERVER.post(key, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                .requireStatus(201)
                .at("/run");
        SERVER.post(key, "/v1/runs/" + run + "/cancel", null).requireStatus(200);
        return run;
    }

    /** Returns the id of the next event of this kind. */
    private static String idBefore(BufferedReader lines, String event) throws IOException {
        String[] heard = readUntil(lines, event).split("\n", -1);
        String id = heard[heard.length - 3];
        assertThat(id).startsWith("id: ");
        return id.substring(4);
    }

    private static String cookieOf(String key) {
        return SERVER.post(key, "/v1/session", null)
                .requireStatus(201)
                .header("Set-Cookie")
                .orElseThrow()
                .split(";", 2)[0];
    }

    private static BufferedReader lines(HttpResponse<InputStream> response) {
        return new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    }

    private static HttpResponse<InputStream> listen(String key) throws Exception {
        return listen("Authorization", "Bearer " + key);
    }

    private static HttpResponse<InputStream> listen(int port, String key, String lastEventId) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/stream"))
                                .header("Authorization", "Bearer " + key)
                                .header("Last-Event-ID", lastEventId)
                                .build(),
                        HttpResponse.BodyHandlers.ofInputStream());
    }

    private static HttpResponse<InputStream> listen(String header, String value) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(
                                        "http://127.0.0.1:" + SERVER.server().port() + "/v1/stream"))
                                .header(header, value)
                                .build(),
                        HttpResponse.BodyHandlers.ofInputStream());
    }

    private static String readUntil(BufferedReader lines, String wanted) throws IOException {
        return readUntil(lines, wanted::equals, wanted);
    }

    private static String readUntilContains(BufferedReader lines, String wanted) throws IOException {
        return readUntil(lines, line -> line.contains(wanted), wanted);
    }

    /** A stream sends at least a comment every second, so the loop ends. */
    private static String readUntil(BufferedReader lines, Predicate<String> isWanted, String wanted)
            throws IOException {
        StringBuilder heard = new StringBuilder();
        long end = System.nanoTime() + Duration.ofSeconds(25).toNanos();
        for (String line = lines.readLine(); line != null && System.nanoTime() < end; line = lines.readLine()) {
            heard.append(line).append('\n');
            if (isWanted.test(line)) return heard.toString();
        }
        throw new AssertionError("the stream did not send " + wanted + ": " + heard);
    }
}
