package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.AttemptRecord;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.webhook.guard.AddressPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Webhooks as runs, on a real database with a virtual clock. */
@CarillonTest(at = "2026-11-15T12:00:00Z")
class WebhookRunsTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private final CarillonKit kit;
    private final List<String> heard = new ArrayList<>();
    private TestReceiver testReceiver;
    private Webhooks webhooks;
    private Carillon carillon;

    WebhookRunsTest(CarillonKit kit) {
        this.kit = kit;
    }

    @BeforeEach
    void open() throws Exception {
        kit.database().clear();
        testReceiver = new TestReceiver();
        webhooks = Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().allow("127.0.0.0/8"))
                .listener((deliveryMetadata, target, delivery) -> {
                    heard.add(deliveryMetadata.project() + " " + delivery.verdict());
                    throw new IllegalStateException("a listener that fails");
                })
                .build();
        carillon = webhooks.registerOn(
                        Carillon.on(kit.database().dataSource()),
                        Webhooks.defaultOptions()
                                .retry(Retry.exponential(MINUTE).factor(1).attempts(3)))
                .build();
        kit.drive(carillon);
    }

    @AfterEach
    void close() {
        carillon.close();
        webhooks.close();
        testReceiver.close();
    }

    @Test
    void a_run_calls_its_url_and_keeps_the_answer() {
        testReceiver.respondWith(TestReceiver.response(201, "thank you", "X-Request", "17"));

        RunId run = enqueue(WebhookTarget.post(testReceiver.url() + "?a=b").body("{\"order\":17}"));
        kit.runDue();

        TestReceiver.ReceivedRequest receivedRequest = testReceiver.requests().get(0);
        assertThat(receivedRequest.method()).isEqualTo("POST");
        assertThat(receivedRequest.path()).isEqualTo("/hook?a=b");
        assertThat(receivedRequest.body()).isEqualTo("{\"order\":17}");
        assertThat(receivedRequest.header("content-type")).isEqualTo("application/json");
        assertThat(receivedRequest.header("webhook-id")).isEqualTo(run.toString());
        assertThat(receivedRequest.header("webhook-timestamp")).isEqualTo("1794744000");
        assertThat(receivedRequest.header("carillon-run")).isEqualTo(run.toString());
        assertThat(receivedRequest.header("carillon-attempt")).isEqualTo("1");
        assertThat(receivedRequest.headers()).doesNotContainKeys("carillon-planned-at", "webhook-signature");
        assertThat(heard).containsExactly("default DELIVERED");
        assertThat(state(run)).isEqualTo(RunState.SUCCEEDED);
        assertThat(last(run).status()).isEqualTo(201);
        assertThat(last(run).body()).isEqualTo("thank you");
        assertThat(last(run).headers()).containsEntry("x-request", "17");
    }

    @Test
    void a_failure_is_tried_again_with_the_same_id_and_bytes() {
        testReceiver.respondWith(TestReceiver.response(500, "broken"));
        RunId run = enqueue(WebhookTarget.post(testReceiver.url()).body("{\"n\": 1.10, \"a\": [ ]}"));
        kit.runDue();
        testReceiver.respondWith(TestReceiver.status(204));
        kit.advance(MINUTE).runDue();

        assertThat(testReceiver.requests())
                .extracting(receivedRequest -> receivedRequest.header("webhook-id") + " "
                        + receivedRequest.header("carillon-attempt") + " " + receivedRequest.body())
                .containsExactly(run + " 1 {\"n\": 1.10, \"a\": [ ]}", run + " 2 {\"n\": 1.10, \"a\": [ ]}");
        assertThat(testReceiver.requests())
                .extracting(receivedRequest -> receivedRequest.header("webhook-timestamp"))
                .doesNotHaveDuplicates();
        List<AttemptRecord> earlier = carillon.runs().attempts(run);
        assertThat(earlier).hasSize(1);
        assertThat(earlier.get(0).error()).isEqualTo("status 500\n");
        assertThat(Delivery.parse(earlier.get(0).delivery()).orElseThrow().body())
                .isEqualTo("broken");
        assertThat(state(run)).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void the_requested_pause_is_kept_and_the_host_is_not_called_meanwhile() {
        testReceiver.respondWith(TestReceiver.status(429, "Retry-After", "600"));
        RunId slowed = enqueue(WebhookTarget.post(testReceiver.url()));
        kit.runDue();
        RunId second = enqueue(WebhookTarget.post(testReceiver.url()));
        kit.runDue();

        assertThat(testReceiver.requests())
                .as("requests; the second is held back")
                .hasSize(1);
        assertThat(heard).containsExactly("default SLOW_DOWN", "default HELD_BACK");
        assertThat(carillon.runs().attempts(slowed).get(0).retryDelay()).isEqualTo(Duration.ofMinutes(10));
        assertThat(carillon.runs().get(second).orElseThrow().failures()).isZero();
        assertThat(carillon.runs().attempts(second).get(0).outcome()).isEqualTo("snoozed");
    }

    @Test
    void a_receiver_that_is_gone_ends_the_run_at_once() {
        testReceiver.respondWith(TestReceiver.status(410));
        RunId run = enqueue(WebhookTarget.post(testReceiver.url()));
        kit.runDue();

        assertThat(state(run)).isEqualTo(RunState.DEAD);
        assertThat(testReceiver.requests()).hasSize(1);
        assertThat(heard).containsExactly("default GONE");
        assertThat(last(run).status()).isEqualTo(410);
    }

    @Test
    void a_blocked_host_fails_like_an_unknown_host_and_the_run_ends_dead() {
        RunId run = enqueue(WebhookTarget.post("http://10.0.0.1:8080/"));
        for (int attempt = 0; attempt < 3; attempt++) kit.advance(MINUTE).runDue();

        Run dead = carillon.runs().get(run).orElseThrow();
        assertThat(dead.state()).isEqualTo(RunState.DEAD);
        assertThat(dead.failures()).isEqualTo(3);
        assertThat(dead.details().reason()).startsWith("http://10.0.0.1:8080 could not be reached");
    }

    @Test
    void a_receiver_that_answers_202_completes_the_run_by_its_token() {
        testReceiver.respondWith(TestReceiver.response(202, "working on it"));
        RunId run = enqueue(WebhookTarget.post(testReceiver.url()).callback(Duration.ofHours(1)));
        kit.runDue();
        kit.advance(Duration.ofMinutes(30)).runDue();
        String token = testReceiver.requests().get(0).header("carillon-callback-token");

        assertThat(state(run)).isEqualTo(RunState.RUNNING);
        assertThat(testReceiver.requests()).hasSize(1);
        assertThat(carillon.runs().complete(run, 1, token)).isTrue();
        assertThat(state(run)).isEqualTo(RunState.SUCCEEDED);
        assertThat(last(run).status()).isEqualTo(202);
        assertThat(last(run).toText()).doesNotContain(token);
    }

    @Test
    void a_receiver_that_never_calls_back_is_called_again_with_another_token() {
        testReceiver.respondWith(TestReceiver.status(202));
        RunId run = enqueue(WebhookTarget.post(testReceiver.url()).callback(Duration.ofHours(1)));
        kit.runDue();
        kit.advance(Duration.ofMinutes(61)).runDue();
        kit.advance(MINUTE).runDue();

        assertThat(testReceiver.requests())
                .extracting(receivedRequest -> receivedRequest.header("carillon-callback-token"))
                .hasSize(2)
                .doesNotHaveDuplicates();
        assertThat(testReceiver.requests())
                .extracting(receivedRequest -> receivedRequest.header("webhook-id"))
                .containsOnly(run.toString());
        assertThat(carillon.runs()
                        .complete(run, 1, testReceiver.requests().get(0).header("carillon-callback-token")))
                .isFalse();
    }

    @Test
    void a_schedule_calls_with_its_planned_instant() {
        carillon.schedules()
                .upsert("hourly", When.cron("0 * * * *", "UTC"), Webhooks.TYPE, WebhookTarget.post(testReceiver.url()));
        kit.advance(Duration.ofMinutes(61)).runDue();
        kit.advance(Duration.ofMinutes(60)).runDue();

        assertThat(testReceiver.requests())
                .extracting(receivedRequest -> receivedRequest.header("carillon-planned-at"))
                .contains("2026-11-15T13:00:00Z");
        assertThat(testReceiver.requests().get(0).header("carillon-idempotency-key"))
                .startsWith("sched_")
                .contains("@2026-11-15T");
    }

    private RunId enqueue(WebhookTarget target) {
        return ((EnqueueResult.Enqueued) carillon.enqueue(Webhooks.TYPE, target)).run();
    }

    private RunState state(RunId run) {
        return carillon.runs().get(run).orElseThrow().state();
    }

    private Delivery last(RunId run) {
        return Delivery.parse(carillon.runs().get(run).orElseThrow().details().delivery())
                .orElseThrow();
    }
}
