package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Run;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.webhook.guard.GuardPolicy;
import io.carillon.webhook.hosts.HostLimits;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What one host does to those who call it concerns that host only. */
@CarillonTest(at = "2026-11-15T12:00:00Z")
class HostBreakerTest {
    private static final HostLimits SOON =
            new HostLimits(10, 4, Duration.ofMinutes(10), Duration.ofMinutes(5), Duration.ofMinutes(10));

    private final CarillonKit kit;

    HostBreakerTest(CarillonKit kit) {
        this.kit = kit;
    }

    @Test
    void a_host_that_fails_again_and_again_is_left_alone_and_others_are_not() throws Exception {
        try (Receiver broken = new Receiver();
                Receiver fine = new Receiver();
                Webhooks webhooks = Webhooks.builder()
                        .guard(GuardPolicy.defaults().allow("127.0.0.0/8"))
                        .hosts(SOON)
                        .build();
                Carillon carillon = webhooks.handleOn(Carillon.on(kit.database().dataSource()), options -> options)
                        .build()) {
            kit.driving(carillon);
            broken.answering(Receiver.status(500));
            for (int i = 0; i < SOON.sample(); i++) {
                carillon.enqueue(Webhooks.TYPE, WebhookTarget.post(broken.url()));
                kit.runDue();
            }
            assertThat(broken.got()).hasSize(SOON.sample());

            EnqueueResult held = carillon.enqueue(Webhooks.TYPE, WebhookTarget.post(broken.url()));
            EnqueueResult sent = carillon.enqueue(Webhooks.TYPE, WebhookTarget.post(fine.url()));
            kit.runDue();

            assertThat(broken.got()).as("it is left alone").hasSize(SOON.sample());
            Run waiting = carillon.runs().get(held.run()).orElseThrow();
            assertThat(waiting.state()).isEqualTo(RunState.WAITING);
            assertThat(waiting.failures()).as("which is no failure").isZero();
            assertThat(fine.got()).hasSize(1);
            assertThat(carillon.runs().get(sent.run()).orElseThrow().state()).isEqualTo(RunState.SUCCEEDED);
        }
    }
}
