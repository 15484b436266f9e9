package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** The access log of the server. */
class AccessLogTest {
    @RegisterExtension
    static final RemoteServer SERVER = new RemoteServer();

    private static final String SECRET = "hunter2";

    @Test
    void logs_actor_and_route_but_no_input_of_the_caller() throws Exception {
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        Logger all = (Logger) LoggerFactory.getLogger("io.carillon.server");
        Level before = all.getLevel();
        all.setLevel(Level.DEBUG);
        all.addAppender(lines);
        try {
            String id = SERVER.key().split("_", -1)[1];
            assertThat(send(
                            "POST",
                            "/v1/runs",
                            SERVER.key(),
                            "{\"target\":{\"handler\":\"fine\"},\"payload\":\"hunter2\"}"))
                    .isEqualTo(201);
            assertThat(send("POST", "/v1/runs", SERVER.key(), "{\"hunter2\":1}"))
                    .isEqualTo(422);
            assertThat(send("POST", "/v1/runs", SERVER.key(), "hunter2")).isEqualTo(400);
            assertThat(send("GET", "/v1/schedules/hunter2", SERVER.key(), null)).isEqualTo(404);
            assertThat(send("GET", "/v1/runs?handler=hunter2", SERVER.key(), null))
                    .isEqualTo(200);
            assertThat(send("GET", "/hunter2", SERVER.key(), null)).isEqualTo(404);
            assertThat(send("GET", "/v1/runs", "crl_hunter2", null)).isEqualTo(401);

            List<String> logged = List.copyOf(lines.list).stream()
                    .map(ILoggingEvent::getFormattedMessage)
                    .toList();
            assertThat(logged)
                    .anyMatch(line -> line.startsWith("request answered method=POST path=/v1/runs status=201 ")
                            && line.contains(" project=default actor=key " + id + " from=127.0.0.1"))
                    .anyMatch(line ->
                            line.startsWith("request answered method=GET path=/v1/schedules/{name} status=404 "))
                    .anyMatch(line -> line.startsWith("request answered method=GET path=/v1/runs status=401 "))
                    .noneMatch(line -> line.contains(SECRET) || line.contains(SERVER.key()));
        } finally {
            all.detachAppender(lines);
            all.setLevel(before);
        }
    }

    private static int send(String method, String path, String key, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(SERVER.url() + path))
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .header("X-Request-Id", "hunter2 with blanks")
                .build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }
}
