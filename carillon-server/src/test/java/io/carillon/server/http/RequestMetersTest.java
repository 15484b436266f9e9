package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.RawHttp;
import io.carillon.server.RestTestServer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The meter of requests, which each request of any client adds to. */
class RequestMetersTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    @Test
    void invented_methods_share_one_meter() {
        for (String method : List.of("BREW", "WHEN", "COFFEE"))
            assertThat(RawHttp.send(
                                    SERVER.server().port(),
                                    new RawHttp.Request(
                                            method + " /healthz HTTP/1.1", List.of("Host: localhost"), new byte[0]))
                            .status())
                    .isEqualTo(405);

        String meters =
                SERVER.get(SERVER.bootstrap(), "/metrics").requireStatus(200).text();

        assertThat(meters.lines().filter(line -> line.startsWith("carillon_http_requests_seconds_count")))
                .anySatisfy(
                        line -> assertThat(line).contains("method=\"OTHER\"").endsWith(" 3"));
        assertThat(meters).doesNotContain("BREW", "WHEN", "COFFEE");
    }
}
