package io.carillon.it.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.internal.value.WallClock;
import io.carillon.spi.Keyring;
import io.carillon.testkit.TestDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code carillon serve} as a process: writes the first key to a file, serves requests, and stops on a signal. */
class ServeCommandTest {
    @TempDir
    Path folder;

    private static final Pattern PORT = Pattern.compile("listening on http://127.0.0.1:(\\d+)");

    @Tag("slow")
    @Test
    void serves_with_the_key_of_the_first_start_and_stops_on_a_signal() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            String url = url(database);
            try (CommandProcess first = CommandProcess.start("serve", "--database-url", url, "--listen", "0")) {
                String key = first.awaitBootstrapKey();
                Matcher port = PORT.matcher(first.err());
                assertThat(port.find()).isTrue();
                assertThat(get(port.group(1), key)).isEqualTo(200);
                assertThat(get(port.group(1), "crl_wrong")).isEqualTo(401);

                assertThat(first.terminate()).isZero();
                assertThat(first.out() + first.err()).doesNotContain(key);
            }
            try (CommandProcess open =
                    CommandProcess.runToEnd("serve", "--database-url", url, "--listen", "0.0.0.0:0")) {
                assertThat(open.exitCode()).isEqualTo(1);
                assertThat(open.err()).contains("no API key has been created yet");
            }
            try (CommandProcess odd = CommandProcess.runToEnd("serve", "--database-url", url, "--listen", "here")) {
                assertThat(odd.exitCode()).isEqualTo(2);
            }
        }
    }

    @Tag("slow")
    @Test
    void api_and_engine_run_in_separate_processes_and_log_json() throws Exception {
        try (TestDatabase database = TestDatabase.empty()) {
            String url = url(database);
            try (CommandProcess api = CommandProcess.start(
                    "serve", "--role", "api", "--database-url", url, "--listen", "0", "--log", "json")) {
                String key = api.awaitBootstrapKey();
                Matcher port = Pattern.compile("\"message\":\"server started\",.*\"port\":(\\d+)")
                        .matcher(api.err());
                assertThat(port.find()).as(api.err()).isTrue();
                assertThat(api.err().lines()).isNotEmpty().allMatch(line -> line.startsWith("{\"at\":"));
                assertThat(ask(port.group(1), key, "/v1/nodes").body()).isEqualTo("{\"items\":[]}");

                try (CommandProcess engine = CommandProcess.start(
                        "serve",
                        "--role",
                        "engine",
                        "--database-url",
                        url,
                        "--node",
                        "apart",
                        "--shutdown-timeout",
                        "1s")) {
                    Awaitility.await()
                            .atMost(Duration.ofSeconds(60))
                            .until(() ->
                                    ask(port.group(1), key, "/v1/nodes").body().contains("\"name\":\"apart\""));
                    assertThat(engine.terminate()).isZero();
                    assertThat(engine.err()).contains("the REST API is off");
                }
                assertThat(api.terminate()).isZero();
            }
        }
    }

    @Tag("slow")
    @Test
    void users_log_in_with_the_configured_provider_and_a_read_only_server_changes_nothing() throws Exception {
        try (TestDatabase database = TestDatabase.migrated();
                CommandProcess api = CommandProcess.start(
                        "serve",
                        "--role",
                        "api",
                        "--database-url",
                        url(database),
                        "--listen",
                        "0",
                        "--read-only",
                        "--public-url",
                        "https://carillon.example",
                        "--oidc-issuer",
                        // Nothing listens there.
                        "http://127.0.0.1:1/company",
                        "--oidc-client-id",
                        "carillon")) {
            String key = api.awaitBootstrapKey();
            Matcher port = PORT.matcher(api.err());
            assertThat(port.find()).isTrue();
            HttpClient client = HttpClient.newHttpClient();
            String server = "http://127.0.0.1:" + port.group(1);

            HttpResponse<Void> login = client.send(
                    HttpRequest.newBuilder(URI.create(server + "/ui/login")).build(),
                    HttpResponse.BodyHandlers.discarding());
            HttpResponse<String> refused = client.send(
                    HttpRequest.newBuilder(URI.create(server + "/v1/schedules/none"))
                            .header("Authorization", "Bearer " + key)
                            .DELETE()
                            .build(),
                    HttpResponse.BodyHandlers.ofString());

            assertThat(login.headers().firstValue("Location").orElseThrow())
                    .startsWith("../ui#/login-failed/provider-unreachable/");
            assertThat(refused.statusCode()).isEqualTo(403);
            assertThat(refused.body()).contains("\"code\":\"read-only\"");
            assertThat(api.terminate()).isZero();
        }
    }

    @Tag("slow")
    @Test
    void jwt_tokens_are_accepted_and_the_schema_is_only_validated_where_configured() throws Exception {
        String secret = "a secret of more than thirty-two bytes";
        try (TestDatabase database = TestDatabase.empty()) {
            String url = url(database);
            Path file = folder.resolve("secret");
            SecretFiles.write(file, secret);
            try (CommandProcess early =
                    CommandProcess.runToEnd("serve", "--database-url", url, "--listen", "0", "--schema", "validate")) {
                assertThat(early.exitCode()).isEqualTo(1);
                assertThat(early.err()).contains("is at version 0");
            }
            try (CommandProcess print = CommandProcess.runToEnd("serve", "--database-url", url, "--schema", "print")) {
                assertThat(print.exitCode()).isZero();
                assertThat(print.out()).contains("CREATE TABLE carillon.run (");
            }
            Carillon.schema(database.dataSource()).migrate();
            String[] words = {
                "serve",
                "--role",
                "api",
                "--database-url",
                url,
                "--listen",
                "0",
                "--schema",
                "validate",
                "--jwt-issuer",
                "https://id.example",
                "--jwt-secret-file",
                file.toString()
            };
            try (CommandProcess api = CommandProcess.start(words)) {
                api.awaitBootstrapKey();
                Matcher port = PORT.matcher(api.err());
                assertThat(port.find()).isTrue();

                assertThat(get(port.group(1), token(secret, "https://id.example")))
                        .isEqualTo(200);
                assertThat(get(port.group(1), token(secret, "https://else.example")))
                        .isEqualTo(401);
                assertThat(get(port.group(1), token(secret + "!", "https://id.example")))
                        .isEqualTo(401);
                assertThat(api.err()).doesNotContain(secret);
                assertThat(api.terminate()).isZero();
            }
        }
    }

    @Tag("slow")
    @Test
    void webhooks_reach_allowed_addresses_only_and_secrets_need_the_master_key() throws Exception {
        Path keys = folder.resolve("master.keys");
        SecretFiles.write(keys, Keyring.newKey("first") + "\n");
        try (TestDatabase database = TestDatabase.empty()) {
            String url = url(database);
            try (CommandProcess serve = CommandProcess.start(
                    "serve",
                    "--database-url",
                    url,
                    "--listen",
                    "0",
                    "--master-keys-file",
                    keys.toString(),
                    "--webhook-allow",
                    "127.0.0.1/32")) {
                String key = serve.awaitBootstrapKey();
                Matcher port = PORT.matcher(serve.err());
                assertThat(port.find()).isTrue();
                String endpoint = ("{\"name\":\"orders\",\"url\":\"http://127.0.0.1:%s/healthz\",\"method\":\"GET\","
                                + "\"secrets\":[{\"name\":\"main\"}]}")
                        .formatted(port.group(1));
                assertThat(post(port.group(1), key, "/v1/endpoints", endpoint)).contains("whsec_");
                String made = post(port.group(1), key, "/v1/runs", "{\"target\":{\"endpoint\":\"orders\"}}");
                String run = made.replaceAll(".*(run_\\w+).*", "$1");
                Awaitility.await()
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> ask(port.group(1), key, "/v1/runs/" + run)
                                .body()
                                .contains("\"verdict\":\"delivered\""));
                assertThat(serve.terminate()).isZero();
                assertThat(serve.err()).doesNotContain("whsec_");
            }
            try (CommandProcess without = CommandProcess.runToEnd("serve", "--database-url", url, "--listen", "0")) {
                assertThat(without.exitCode()).isEqualTo(1);
                assertThat(without.err()).contains("no master key is set").doesNotContain("\tat ");
            }
            try (CommandProcess odd =
                    CommandProcess.runToEnd("serve", "--database-url", url, "--webhook-allow", "everywhere")) {
                assertThat(odd.exitCode()).isEqualTo(2);
            }
        }
    }

    /** Returns a token for the project default that is valid for ten minutes. */
    private static String token(String secret, String issuer) throws Exception {
        long until = WallClock.millis() / 1_000 + 600;
        String claims =
                ("{\"iss\":\"%s\",\"aud\":\"carillon\",\"sub\":\"ann\",\"project\":\"default\",\"scope\":\"read\","
                                + "\"exp\":%d}")
                        .formatted(issuer, until);
        String signed = base64("{\"alg\":\"HS256\"}".getBytes(StandardCharsets.UTF_8)) + "."
                + base64(claims.getBytes(StandardCharsets.UTF_8));
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        return signed + "." + base64(mac.doFinal(signed.getBytes(StandardCharsets.UTF_8)));
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static String post(String port, String key, String path, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(201);
        return response.body();
    }

    /** Returns the URL with user and password. */
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
