package io.carillon.webhook.send;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class IdleConnectionsTest {
    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void a_connection_to_a_host_that_is_not_called_again_is_closed() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket server = new ServerSocket(0, 10, loopback);
                CloseableHttpClient client =
                        HttpClientFactory.create(SSLContext.getDefault(), 4, Duration.ofMillis(100))) {
            CompletableFuture<Integer> afterResponse = CompletableFuture.supplyAsync(() -> respondAndRead(server));
            HttpHost host = new HttpHost("http", loopback, "once.example", server.getLocalPort());
            try (ClassicHttpResponse response = client.executeOpen(host, new HttpGet("/"), null)) {
                EntityUtils.consume(response.getEntity());
            }

            assertThat(afterResponse.get())
                    .as("read after the response: end of stream")
                    .isEqualTo(-1);
        }
    }

    /** Sends a response that keeps the connection open; returns what is read when the client ends its silence. */
    private static int respondAndRead(ServerSocket server) {
        try (Socket socket = server.accept()) {
            InputStream in = socket.getInputStream();
            String head = "";
            while (!head.endsWith("\r\n\r\n")) head += (char) in.read();
            socket.getOutputStream().write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".getBytes(US_ASCII));
            return in.read();
        } catch (java.io.IOException broken) {
            throw new java.io.UncheckedIOException(broken);
        }
    }
}
