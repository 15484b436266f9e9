package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.testkit.TestDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code carillon serve} as a process: shows the first key once, serves, and stops in order. */
class ServeCommandTest {
    private static final Pattern PORT = Pattern.compile("listening on http://127.0.0.1:(\\d+)");

    @Test
    void serves_with_the_key_of_the_first_start_and_stops_at_a_signal() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            String plain = database.jdbcUrl();
            String url = plain + (plain.contains("?") ? "&" : "?") + "user=" + database.user() + "&password="
                    + database.password();
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

    private static int get(String port, String key) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/stats"))
                .header("Authorization", "Bearer " + key)
                .build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }
}
