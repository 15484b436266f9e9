package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

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
            while (received < 3_000) {
                readUntil(lines, "event: run.ended");
                assertThat(lines.readLine()).contains("burst-");
                received++;
            }
            String run = SERVER.post(key, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                    .at("/run");
            SERVER.post(key, "/v1/runs/" + run + "/cancel", null).requireStatus(200);

            readUntil(lines, "event: run.ended");
            assertThat(lines.readLine()).contains(run);
        }
    }

    private static HttpResponse<InputStream> listen(String key) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(
                                        "http://127.0.0.1:" + SERVER.server().port() + "/v1/stream"))
                                .header("Authorization", "Bearer " + key)
                                .build(),
                        HttpResponse.BodyHandlers.ofInputStream());
    }

    private static String readUntil(BufferedReader lines, String wanted) throws IOException {
        StringBuilder heard = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            heard.append(line).append('\n');
            if (line.equals(wanted)) return heard.toString();
        }
        throw new AssertionError("the stream ended: " + heard);
    }
}
