package io.carillon.cli.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class HttpThreadsTest {
    @Test
    void no_thread_waits_in_native_code_when_the_command_ends() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
            new ApiClient(new ServerConnection(url, Optional.empty(), "test"), Duration.ofSeconds(30)).get("/v1/runs");
            assertThat(httpThreads())
                    .as("the name by which the thread is found")
                    .isNotEmpty();

            HttpThreads.stop();

            assertThat(httpThreads()).isEmpty();
        } finally {
            server.stop(0);
        }
    }

    private static List<String> httpThreads() {
        Thread[] threads = new Thread[Thread.activeCount() + 100];
        return Stream.of(threads)
                .limit(Thread.enumerate(threads))
                .map(Thread::getName)
                .filter(name -> name.endsWith("-SelectorManager"))
                .toList();
    }
}
