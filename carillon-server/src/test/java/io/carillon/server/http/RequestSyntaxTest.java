package io.carillon.server.http;

import io.carillon.server.RawHttp;
import io.carillon.server.RestTestServer;
import java.nio.charset.StandardCharsets;
import java.util.List;
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
}
