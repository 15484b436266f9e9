package io.carillon.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.server.RestTestServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One client address cannot take all connections. */
class ConnectionLimitTest {
    private static final int LIMIT = 3;

    @RegisterExtension
    static final RestTestServer SERVER =
            new RestTestServer(builder -> builder, server -> server.maxConnectionsPerAddress(LIMIT));

    /** Opens a connection and sends a request on it. Returns null if the server closed the connection instead. */
    private static Socket connect() throws IOException {
        Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), SERVER.server().port());
        try {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            if (socket.getInputStream().read() == 'H') return socket;
        } catch (SocketException reset) {
            // The server closed the connection while the request was sent.
        }
        socket.close();
        return null;
    }

    @Test
    void connections_beyond_the_limit_are_closed_until_another_one_ends() throws IOException {
        List<Socket> open = new ArrayList<>();
        try {
            for (int i = 0; i < LIMIT; i++) open.add(connect());
            assertThat(open).doesNotContainNull();
            assertThat(connect()).isNull();
            open.remove(0).close();
            await().atMost(Duration.ofSeconds(10)).until(() -> {
                Socket fresh = connect();
                if (fresh != null) open.add(fresh);
                return fresh != null;
            });
        } finally {
            for (Socket socket : open) socket.close();
        }
    }
}
