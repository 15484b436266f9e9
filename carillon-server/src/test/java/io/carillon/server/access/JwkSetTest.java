package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.carillon.CarillonException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The keys of an issuer are read rarely, and a document that is too long, too slow or elsewhere is not used. */
class JwkSetTest {
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);
    private final AtomicInteger reads = new AtomicInteger();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private Optional<String> document = Optional.of(TestIssuer.keySet(""));
    private HttpServer http;

    @BeforeEach
    void open() throws IOException {
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.setExecutor(threads);
        http.start();
    }

    @AfterEach
    void close() {
        http.stop(0);
        threads.shutdownNow();
    }

    @Test
    void an_unknown_key_id_causes_at_most_one_read_in_30_seconds() {
        JwkSet keys = counted();
        assertThat(keys.find(TestIssuer.KEY_ID)).isPresent();
        for (int i = 0; i < 100; i++) assertThat(keys.find("unknown" + i)).isEmpty();
        assertThat(reads).hasValue(1);

        pass(Duration.ofSeconds(29));
        assertThat(keys.find("unknown")).isEmpty();
        assertThat(reads).hasValue(1);

        pass(Duration.ofSeconds(2));
        for (int i = 0; i < 100; i++) assertThat(keys.find("unknown" + i)).isEmpty();
        assertThat(reads).hasValue(2);
    }

    @Test
    void an_unavailable_issuer_is_asked_at_most_every_30_seconds() {
        document = Optional.empty();
        JwkSet keys = counted();
        for (int i = 0; i < 100; i++) assertThat(keys.find(TestIssuer.KEY_ID)).isEmpty();
        assertThat(reads).hasValue(1);

        document = Optional.of(TestIssuer.keySet(""));
        pass(Duration.ofSeconds(31));
        assertThat(keys.find(TestIssuer.KEY_ID)).isPresent();
    }

    @Test
    void known_keys_are_read_again_after_10_minutes_and_kept_while_the_issuer_is_unavailable() {
        JwkSet keys = counted();
        assertThat(keys.find(TestIssuer.KEY_ID)).isPresent();
        pass(Duration.ofMinutes(9));
        assertThat(keys.find(TestIssuer.KEY_ID)).isPresent();
        assertThat(reads).hasValue(1);

        pass(Duration.ofMinutes(2));
        for (Optional<String> unusable : List.of(Optional.<String>empty(), Optional.of("<html>"))) {
            document = unusable;
            assertThat(keys.find(TestIssuer.KEY_ID)).isPresent();
            pass(Duration.ofMinutes(11));
        }
        assertThat(reads).hasValue(3);

        document = Optional.of("{\"keys\":[]}");
        assertThat(keys.find(TestIssuer.KEY_ID)).isEmpty();
    }

    @Test
    void one_unusable_key_does_not_hide_the_others() {
        String odd =
                "{\"kty\":\"RSA\",\"kid\":\"a\"},{\"kty\":\"odd\"},{},{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"b\","
                        + "\"x\":\"AQ\",\"y\":\"AQ\"},";
        document = Optional.of(TestIssuer.keySet("").replace("[{", "[" + odd + "{"));
        JwkSet keys = counted();
        assertThat(keys.find(TestIssuer.KEY_ID)).isPresent();
        assertThat(keys.find("a")).isEmpty();
        assertThat(keys.find("b")).isEmpty();
        assertThat(keys.find("")).isEmpty();
    }

    @Test
    void a_key_set_has_at_most_256_kib() {
        String filled = keySetOfLength(256 * 1024);
        serve("/filled", exchange -> respond(exchange, 200, filled));
        serve("/longer", exchange -> respond(exchange, 200, keySetOfLength(256 * 1024 + 1)));
        assertThat(fetched("/filled").find(TestIssuer.KEY_ID)).isPresent();
        assertThat(fetched("/longer").find(TestIssuer.KEY_ID)).isEmpty();

        document = Optional.of(keySetOfLength(256 * 1024 + 1));
        assertThat(counted().find(TestIssuer.KEY_ID)).isEmpty();
    }

    @Test
    void an_endless_response_is_cut_off() {
        AtomicLong sent = new AtomicLong();
        serve("/endless", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try (OutputStream body = exchange.getResponseBody()) {
                for (byte[] part = new byte[8 * 1024]; ; sent.addAndGet(part.length)) body.write(part);
            }
        });
        assertThat(fetched("/endless").find(TestIssuer.KEY_ID)).isEmpty();
        assertThat(sent.get()).isLessThan(64L * 1024 * 1024);
    }

    @Test
    void a_response_that_does_not_end_in_time_is_not_used() {
        serve("/slow", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try (OutputStream body = exchange.getResponseBody()) {
                for (byte each : TestIssuer.keySet("").getBytes(StandardCharsets.UTF_8)) {
                    body.write(each);
                    body.flush();
                    Thread.sleep(20);
                }
            } catch (InterruptedException closing) {
                Thread.currentThread().interrupt();
            }
        });
        JwkSet keys = new JwkSet(new JwkSetFetcher(address("/slow"), Duration.ofSeconds(1)));
        long start = System.nanoTime();
        assertThat(keys.find(TestIssuer.KEY_ID)).isEmpty();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void only_status_200_is_used_and_redirects_are_not_followed() {
        serve("/keys", exchange -> respond(exchange, 200, TestIssuer.keySet("")));
        serve("/created", exchange -> respond(exchange, 201, TestIssuer.keySet("")));
        serve("/moved", exchange -> {
            exchange.getResponseHeaders().add("Location", address("/keys").toString());
            respond(exchange, 302, TestIssuer.keySet(""));
        });
        assertThat(fetched("/keys").find(TestIssuer.KEY_ID)).isPresent();
        assertThat(fetched("/created").find(TestIssuer.KEY_ID)).isEmpty();
        assertThat(fetched("/moved").find(TestIssuer.KEY_ID)).isEmpty();
    }

    @Test
    void keys_are_read_over_https_or_from_this_machine_only() {
        for (String refused : List.of(
                "http://id.example/keys", "http://192.0.2.1/keys", "http://127.0.0.1.id.example/", "file:///keys"))
            assertThatThrownBy(() -> JwkSet.fromUri(URI.create(refused)))
                    .isInstanceOf(CarillonException.class)
                    .hasMessageContaining("https://");
        for (String accepted : List.of("https://id.example/keys", "http://LOCALHOST/keys", "http://[::1]:1/keys"))
            assertThat(JwkSet.fromUri(URI.create(accepted))).isNotNull();
    }

    @Test
    void at_most_100_keys_of_at_most_8192_bits_are_used() {
        String first = TestIssuer.keySet("").replaceAll("^\\{\"keys\":\\[|\\]\\}$", "");
        StringBuilder many = new StringBuilder();
        for (int i = 0; i < 101; i++)
            many.append(i == 0 ? "" : ",").append(first.replace("\"kid\":\"r\"", "\"kid\":\"k" + i + "\""));
        document = Optional.of("{\"keys\":[" + many + "]}");
        JwkSet keys = counted();
        assertThat(keys.find("k99")).isPresent();
        assertThat(keys.find("k100")).isEmpty();

        String modulus = Base64.getUrlEncoder().withoutPadding().encodeToString(ones(1025));
        document =
                Optional.of("{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"long\",\"e\":\"AQAB\",\"n\":\"" + modulus + "\"}]}");
        assertThat(counted().find("long")).isEmpty();
    }

    private static byte[] ones(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) 0xFF);
        return bytes;
    }

    private JwkSet counted() {
        return new JwkSet(
                () -> {
                    reads.incrementAndGet();
                    return document;
                },
                nanos::get);
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private static String keySetOfLength(int length) {
        int others = TestIssuer.keySet(",\"x\":\"\"").length();
        return TestIssuer.keySet(",\"x\":\"" + "x".repeat(length - others) + "\"");
    }

    /** Answers one request. */
    @FunctionalInterface
    private interface Answer {
        void to(HttpExchange exchange) throws IOException;
    }

    private void serve(String path, Answer answer) {
        http.createContext(path, exchange -> {
            try (exchange) {
                answer.to(exchange);
            }
        });
    }

    private static void respond(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    private URI address(String path) {
        return URI.create("http://127.0.0.1:" + http.getAddress().getPort() + path);
    }

    private JwkSet fetched(String path) {
        return JwkSet.fromUri(address(path));
    }
}
