package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.hosts.HostLimits;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The breaker of one host does not affect other hosts. */
@CarillonTest(at = "2026-11-15T12:00:00Z")
class HostBreakerTest {
    private static final HostLimits SHORT_LIMITS = HostLimits.defaults()
            .requests(4, Duration.ofMinutes(10))
            .pause(Duration.ofMinutes(5), Duration.ofMinutes(10));

    private final CarillonKit kit;

    HostBreakerTest(CarillonKit kit) {
        this.kit = kit;
    }

    @Test
    void a_host_that_keeps_failing_is_not_called_and_others_are() throws Exception {
        try (TestReceiver broken = new TestReceiver();
                TestReceiver fine = new TestReceiver();
                Webhooks webhooks = Webhooks.builder()
                        .addressPolicy(AddressPolicy.defaults().allow("127.0.0.0/8"))
                        .hostLimits(SHORT_LIMITS)
                        .build();
                Carillon carillon = webhooks.registerOn(
                                Carillon.on(kit.database().dataSource()))
                        .build()) {
            kit.drive(carillon);
            broken.respondWith(TestReceiver.status(500));
            for (int i = 0; i < SHORT_LIMITS.minRequests(); i++) {
                carillon.enqueue(Webhooks.TYPE, WebhookTarget.post(broken.url()));
                kit.runDue();
            }
            assertThat(broken.requests()).hasSize(SHORT_LIMITS.minRequests());

            EnqueueResult held = carillon.enqueue(Webhooks.TYPE, WebhookTarget.post(broken.url()));
            EnqueueResult sent = carillon.enqueue(Webhooks.TYPE, WebhookTarget.post(fine.url()));
            kit.runDue();

            assertThat(broken.requests()).as("the breaker is open").hasSize(SHORT_LIMITS.minRequests());
            Run waiting = carillon.runs().get(held.run()).orElseThrow();
            assertThat(waiting.state()).isEqualTo(RunState.WAITING);
            assertThat(waiting.failures()).as("failures").isZero();
            assertThat(fine.requests()).hasSize(1);
            assertThat(carillon.runs().get(sent.run()).orElseThrow().state()).isEqualTo(RunState.SUCCEEDED);
        }
    }
}
