package io.carillon.webhook.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.webhook.TestReceiver;
import io.carillon.webhook.guard.AddressGuard;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.guard.Resolver;
import io.carillon.webhook.guard.TargetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The slow receivers of a project leave connections to other projects. */
class ConnectionSharesTest {
    private static final int CONNECTIONS = 4;

    @Test
    @Timeout(60)
    void a_project_with_slow_receivers_is_held_back_and_another_one_sends() throws Exception {
        CountDownLatch received = new CountDownLatch(CONNECTIONS / 2);
        CountDownLatch end = new CountDownLatch(1);
        ExecutorService threads = Executors.newCachedThreadPool();
        try (TestReceiver slow = new TestReceiver();
                TestReceiver quick = new TestReceiver();
                Sender sender = new Sender(
                        new AddressGuard(AddressPolicy.defaults().allow("127.0.0.1/32")),
                        Resolver.system(),
                        SSLContext.getDefault(),
                        CONNECTIONS)) {
            slow.respondWith(exchange -> {
                received.countDown();
                try {
                    end.await();
                } catch (InterruptedException closing) {
                    Thread.currentThread().interrupt();
                }
                TestReceiver.status(200).send(exchange);
            });
            List<Future<SendResult>> waiting = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS / 2; i++)
                waiting.add(threads.submit(() -> sender.send("greedy", request(slow))));
            received.await();

            assertThat(sender.send("greedy", request(quick))).isInstanceOf(SendResult.HeldBack.class);
            assertThat(sender.send("shop", request(quick))).isInstanceOf(SendResult.Response.class);
            end.countDown();
            for (Future<SendResult> one : waiting) assertThat(one.get()).isInstanceOf(SendResult.Response.class);
            assertThat(sender.send("greedy", request(quick))).isInstanceOf(SendResult.Response.class);
        } finally {
            end.countDown();
            threads.shutdownNow();
        }
    }

    private static WebhookRequest request(TestReceiver receiver) {
        return new WebhookRequest(
                TargetAddress.parse(receiver.url()),
                "POST",
                Map.of(),
                new byte[0],
                Duration.ofSeconds(30),
                Duration.ofSeconds(10));
    }
}
