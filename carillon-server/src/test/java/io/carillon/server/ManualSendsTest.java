package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests and replays of webhooks to a receiver that does not respond: a project uses its share of the places. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManualSendsTest {
    private static final int SHARE = 8;

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch received = new CountDownLatch(SHARE);
    private final CountDownLatch respond = new CountDownLatch(1);
    private HttpServer receiver;

    @BeforeEach
    void listen() throws Exception {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        receiver.setExecutor(threads);
        receiver.createContext("/", exchange -> {
            if (exchange.getRequestURI().getPath().equals("/slow")) {
                received.countDown();
                awaitResponse();
            }
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        receiver.start();
    }

    @AfterEach
    void stop() {
        respond.countDown();
        receiver.stop(0);
        threads.shutdownNow();
    }

    @Test
    void one_project_uses_its_share_of_the_places_and_another_project_still_sends() throws Exception {
        String slow = SERVER.createProject("slow");
        String fine = SERVER.createProject("fine");
        List<Future<RestTestServer.Reply>> inProgress = new ArrayList<>();
        for (int i = 0; i < SHARE; i++) inProgress.add(threads.submit(() -> test(slow, "/slow")));
        received.await();

        RestTestServer.Reply refused = test(slow, "/slow");
        RestTestServer.Reply sent = test(fine, "/fine");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.code()).isEqualTo("too-many-sends");
        assertThat(refused.header("Retry-After")).isPresent();
        assertThat(sent.requireStatus(200).at("/verdict")).isEqualTo("delivered");
        respond.countDown();
        for (Future<RestTestServer.Reply> one : inProgress)
            assertThat(one.get().requireStatus(200).at("/verdict")).isEqualTo("delivered");
        assertThat(test(slow, "/fine").status()).as("places are free again").isEqualTo(200);
    }

    private RestTestServer.Reply test(String key, String path) {
        return SERVER.post(
                key,
                "/v1/webhooks/test",
                "{\"target\":{\"url\":\"http://127.0.0.1:%d%s\"}}"
                        .formatted(receiver.getAddress().getPort(), path));
    }

    private void awaitResponse() {
        try {
            respond.await();
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
    }
}
