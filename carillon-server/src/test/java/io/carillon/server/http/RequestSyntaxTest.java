package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RawHttp;
import io.carillon.server.RestTestServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests that two HTTP implementations could read differently are refused (request smuggling). */
class RequestSyntaxTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static RestTestServer.Reply send(String line, List<String> headers, String body) {
        return RawHttp.send(
                SERVER.server().port(), new RawHttp.Request(line, headers, body.getBytes(StandardCharsets.US_ASCII)));
    }

    @Test
    void a_line_that_ends_with_a_bare_line_feed_is_refused() {
        send("GET /healthz HTTP/1.1", List.of("Host: localhost"), "").requireStatus(200);

        send("GET /healthz HTTP/1.1\nHost: localhost", List.of(), "").requireStatus(400);
        send("GET /healthz HTTP/1.1", List.of("Host: localhost\nX-Other: a"), "")
                .requireStatus(400);
        send("GET /healthz HTTP/1.1", List.of("Host: localhost\n"), "").requireStatus(400);
    }

    @Test
    void a_chunk_size_that_ends_with_a_bare_line_feed_is_refused() {
        List<String> headers = List.of(
                "Host: localhost",
                "Authorization: Bearer " + SERVER.bootstrap(),
                "Content-Type: application/json",
                "Transfer-Encoding: chunked");
        send("POST /v1/schedules:preview HTTP/1.1", headers, "2\r\n{}\r\n0\r\n\r\n")
                .requireStatus(422);

        send("POST /v1/schedules:preview HTTP/1.1", headers, "2\n{}\r\n0\r\n\r\n")
                .requireStatus(400);
    }

    @Test
    void a_length_and_a_transfer_coding_together_are_refused() {
        send(
                        "POST /v1/runs HTTP/1.1",
                        List.of("Host: localhost", "Content-Length: 5", "Transfer-Encoding: chunked"),
                        "0\r\n\r\n")
                .requireStatus(400);
    }

    @Test
    void a_header_is_read_as_it_was_sent_whatever_the_connection_sent_before() throws IOException {
        String key = SERVER.bootstrap();
        String answers;
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), SERVER.server().port())) {
            String request = "GET /v1/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n";
            String other = key.substring(0, 8).toUpperCase(Locale.ROOT);
            socket.getOutputStream()
                    .write((request.formatted(other, "") + request.formatted(key, "Connection: close\r\n"))
                            .getBytes(StandardCharsets.US_ASCII));
            answers = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }

        assertThat(Pattern.compile("HTTP/1.1 (\\d+)").matcher(answers).results().map(found -> found.group(1)))
                .as(answers)
                .containsExactly("401", "200");
    }
}
