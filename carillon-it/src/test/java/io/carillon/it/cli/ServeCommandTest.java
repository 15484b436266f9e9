package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** {@code carillon serve} as a process: shows the first key once, serves, and stops in order. */
class ServeCommandTest {
    private static final Pattern PORT = Pattern.compile("listening on http://127.0.0.1:(\\d+)");

    @Test
    void serves_with_the_key_of_the_first_start_and_stops_at_a_signal() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            String url = url(database);
            try (Command first = Command.start("serve", "--database-url", url, "--listen", "0")) {
                String key = first.await("^crl_\\w{12}_\\w{32}_\\w{6}$").group();
                Matcher port = PORT.matcher(first.err());
                assertThat(port.find()).isTrue();
                assertThat(get(port.group(1), key)).isEqualTo(200);
                assertThat(get(port.group(1), "crl_wrong")).isEqualTo(401);

                assertThat(first.terminate()).isZero();
            }
            try (Command open = Command.ended("serve", "--database-url", url, "--listen", "0.0.0.0:0")) {
                assertThat(open.exit()).isEqualTo(1);
                assertThat(open.err()).contains("nobody has made a key yet");
            }
            try (Command odd = Command.ended("serve", "--database-url", url, "--listen", "here")) {
                assertThat(odd.exit()).isEqualTo(2);
            }
        }
    }

    @Test
    void api_and_engine_run_apart_and_log_as_json() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            String url = url(database);
            try (Command api =
                    Command.start("serve", "--role", "api", "--database-url", url, "--listen", "0", "--log", "json")) {
                String key = api.await("^crl_\\w{12}_\\w{32}_\\w{6}$").group();
                Matcher port = Pattern.compile("server listens address=\\S+ port=(\\d+)")
                        .matcher(api.err());
                assertThat(port.find()).as(api.err()).isTrue();
                assertThat(api.err().lines()).isNotEmpty().allMatch(line -> line.startsWith("{\"at\":"));
                assertThat(ask(port.group(1), key, "/v1/nodes").body()).isEqualTo("{\"items\":[]}");

                try (Command engine = Command.start(
                        "serve", "--role", "engine", "--database-url", url, "--node", "apart", "--drain", "1s")) {
                    Awaitility.await()
                            .atMost(Duration.ofSeconds(60))
                            .until(() ->
                                    ask(port.group(1), key, "/v1/nodes").body().contains("\"name\":\"apart\""));
                    assertThat(engine.terminate()).isZero();
                    assertThat(engine.err()).contains("without REST");
                }
                assertThat(api.terminate()).isZero();
            }
        }
    }

    /** With user and password. */
    static String url(TestDatabase database) {
        String plain = database.jdbcUrl();
        return plain + (plain.contains("?") ? "&" : "?") + "user=" + database.user() + "&password="
                + database.password();
    }

    private static int get(String port, String key) throws Exception {
        return ask(port, key, "/v1/stats").statusCode();
    }

    private static HttpResponse<String> ask(String port, String key, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("Authorization", "Bearer " + key)
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }
}
