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

/** What happens in a project is told to those who listen, and to nobody of another project. */
class StreamTest {
    @RegisterExtension
    static final Served SERVED = new Served();

    @Test
    @Timeout(30)
    void tells_changes_and_ends_of_the_callers_project() throws Exception {
        String mine = SERVED.project("mine");
        String other = SERVED.project("other");
        HttpResponse<InputStream> response = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(
                                        "http://127.0.0.1:" + SERVED.server().port() + "/v1/stream"))
                                .header("Authorization", "Bearer " + mine)
                                .build(),
                        HttpResponse.BodyHandlers.ofInputStream());
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).contains("text/event-stream");
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            assertThat(lines.readLine()).isEqualTo("retry: 2000");
            String theirs = SERVED.post(other, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                    .at("/run");
            SERVED.post(other, "/v1/runs/" + theirs + "/cancel", null).is(200);
            String run = SERVED.post(mine, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                    .at("/run");
            SERVED.post(mine, "/v1/runs/" + run + "/cancel", null).is(200);

            String heard = until(lines, "event: run.ended");
            assertThat(heard + lines.readLine()).contains(run, "\"cancelled\"").doesNotContain(theirs);
            assertThat(heard + until(lines, "event: run.cancel")).contains("event: run.enqueue");
        }
    }

    private static String until(BufferedReader lines, String wanted) throws IOException {
        StringBuilder heard = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            heard.append(line).append('\n');
            if (line.equals(wanted)) return heard.toString();
        }
        throw new AssertionError("the stream ended: " + heard);
    }
}
