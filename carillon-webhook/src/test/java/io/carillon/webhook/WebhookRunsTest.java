package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.run.EnqueueResult;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.When;
import io.carillon.store.AttemptRecord;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.webhook.guard.GuardPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Webhooks as runs: on a real database, with a clock that is moved by hand. */
@CarillonTest(at = "2026-11-15T12:00:00Z")
class WebhookRunsTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private final CarillonKit kit;
    private final List<String> heard = new ArrayList<>();
    private Receiver receiver;
    private Webhooks webhooks;
    private Carillon carillon;

    WebhookRunsTest(CarillonKit kit) {
        this.kit = kit;
    }

    @BeforeEach
    void open() throws Exception {
        kit.database().clear();
        receiver = new Receiver();
        webhooks = Webhooks.builder()
                .guard(GuardPolicy.defaults().allow("127.0.0.0/8"))
                .listener((envelope, target, delivery) -> {
                    heard.add(envelope.project() + " " + delivery.verdict());
                    throw new IllegalStateException("a listener that fails");
                })
                .build();
        carillon = webhooks.handleOn(
                        Carillon.on(kit.database().dataSource()),
                        options -> options.retry(
                                Retry.exponential(MINUTE).factor(1).attempts(3)))
                .build();
        kit.driving(carillon);
    }

    @AfterEach
    void close() {
        carillon.close();
        webhooks.close();
        receiver.close();
    }

    @Test
    void a_run_calls_its_url_and_keeps_the_answer() {
        receiver.answering(Receiver.answer(201, "thank you", "X-Request", "17"));

        RunId run = enqueue(WebhookTarget.post(receiver.url() + "?a=b").body("{\"order\":17}"));
        kit.runDue();

        Receiver.Got got = receiver.got().get(0);
        assertThat(got.method()).isEqualTo("POST");
        assertThat(got.path()).isEqualTo("/hook?a=b");
        assertThat(got.body()).isEqualTo("{\"order\":17}");
        assertThat(got.header("content-type")).isEqualTo("application/json");
        assertThat(got.header("webhook-id")).isEqualTo(run.toString());
        assertThat(got.header("webhook-timestamp")).isEqualTo("1794744000");
        assertThat(got.header("carillon-run")).isEqualTo(run.toString());
        assertThat(got.header("carillon-attempt")).isEqualTo("1");
        assertThat(got.headers()).doesNotContainKeys("carillon-planned-at", "webhook-signature");
        assertThat(heard).containsExactly("default DELIVERED");
        assertThat(state(run)).isEqualTo(RunState.SUCCEEDED);
        assertThat(last(run).status()).isEqualTo(201);
        assertThat(last(run).body()).isEqualTo("thank you");
        assertThat(last(run).headers()).containsEntry("x-request", "17");
    }

    @Test
    void a_failure_is_tried_again_with_the_same_id_and_bytes() {
        receiver.answering(Receiver.answer(500, "broken"));
        RunId run = enqueue(WebhookTarget.post(receiver.url()).body("{\"n\": 1.10, \"a\": [ ]}"));
        kit.runDue();
        receiver.answering(Receiver.status(204));
        kit.advance(MINUTE).runDue();

        assertThat(receiver.got())
                .extracting(got -> got.header("webhook-id") + " " + got.header("carillon-attempt") + " " + got.body())
                .containsExactly(run + " 1 {\"n\": 1.10, \"a\": [ ]}", run + " 2 {\"n\": 1.10, \"a\": [ ]}");
        assertThat(receiver.got())
                .extracting(got -> got.header("webhook-timestamp"))
                .doesNotHaveDuplicates();
        List<AttemptRecord> earlier = carillon.runs().attempts(run);
        assertThat(earlier).hasSize(1);
        assertThat(earlier.get(0).error()).isEqualTo("status 500\n");
        assertThat(Delivery.in(earlier.get(0).delivery()).orElseThrow().body()).isEqualTo("broken");
        assertThat(state(run)).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void the_pause_the_receiver_asks_for_is_kept_and_the_host_is_left_alone() {
        receiver.answering(Receiver.status(429, "Retry-After", "600"));
        RunId slowed = enqueue(WebhookTarget.post(receiver.url()));
        kit.runDue();
        RunId second = enqueue(WebhookTarget.post(receiver.url()));
        kit.runDue();

        assertThat(receiver.got()).as("the second is held back").hasSize(1);
        assertThat(heard).containsExactly("default SLOW_DOWN", "default HELD_BACK");
        assertThat(carillon.runs().attempts(slowed).get(0).pause()).isEqualTo(Duration.ofMinutes(10));
        assertThat(carillon.runs().get(second).orElseThrow().failures()).isZero();
        assertThat(carillon.runs().attempts(second).get(0).outcome()).isEqualTo("snoozed");
    }

    @Test
    void a_receiver_that_is_gone_ends_the_run_at_once() {
        receiver.answering(Receiver.status(410));
        RunId run = enqueue(WebhookTarget.post(receiver.url()));
        kit.runDue();

        assertThat(state(run)).isEqualTo(RunState.DEAD);
        assertThat(receiver.got()).hasSize(1);
        assertThat(heard).containsExactly("default GONE");
        assertThat(last(run).status()).isEqualTo(410);
    }

    @Test
    void what_may_not_be_reached_fails_like_what_is_not_there_and_in_the_end_dies() {
        RunId run = enqueue(WebhookTarget.post("http://10.0.0.1:8080/"));
        for (int attempt = 0; attempt < 3; attempt++) kit.advance(MINUTE).runDue();

        Run dead = carillon.runs().get(run).orElseThrow();
        assertThat(dead.state()).isEqualTo(RunState.DEAD);
        assertThat(dead.failures()).isEqualTo(3);
        assertThat(dead.details().reason()).startsWith("http://10.0.0.1:8080 could not be reached");
    }

    @Test
    void a_receiver_that_answers_202_completes_the_run_by_its_token() {
        receiver.answering(Receiver.answer(202, "working on it"));
        RunId run = enqueue(WebhookTarget.post(receiver.url()).callback(Duration.ofHours(1)));
        kit.runDue();
        kit.advance(Duration.ofMinutes(30)).runDue();
        String token = receiver.got().get(0).header("carillon-callback-token");

        assertThat(state(run)).isEqualTo(RunState.RUNNING);
        assertThat(receiver.got()).hasSize(1);
        assertThat(carillon.runs().complete(run, 1, token)).isTrue();
        assertThat(state(run)).isEqualTo(RunState.SUCCEEDED);
        assertThat(last(run).status()).isEqualTo(202);
        assertThat(last(run).text()).doesNotContain(token);
    }

    @Test
    void a_receiver_that_never_calls_back_is_called_again_with_another_token() {
        receiver.answering(Receiver.status(202));
        RunId run = enqueue(WebhookTarget.post(receiver.url()).callback(Duration.ofHours(1)));
        kit.runDue();
        kit.advance(Duration.ofMinutes(61)).runDue();
        kit.advance(MINUTE).runDue();

        assertThat(receiver.got())
                .extracting(got -> got.header("carillon-callback-token"))
                .hasSize(2)
                .doesNotHaveDuplicates();
        assertThat(receiver.got()).extracting(got -> got.header("webhook-id")).containsOnly(run.toString());
        assertThat(carillon.runs().complete(run, 1, receiver.got().get(0).header("carillon-callback-token")))
                .isFalse();
    }

    @Test
    void a_schedule_calls_with_its_planned_instant() {
        carillon.schedules()
                .upsert("hourly", When.cron("0 * * * *", "UTC"), Webhooks.TYPE, WebhookTarget.post(receiver.url()));
        kit.advance(Duration.ofMinutes(61)).runDue();
        kit.advance(Duration.ofMinutes(60)).runDue();

        assertThat(receiver.got())
                .extracting(got -> got.header("carillon-planned-at"))
                .contains("2026-11-15T13:00:00Z");
        assertThat(receiver.got().get(0).header("carillon-idempotency-key"))
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
        return Delivery.in(carillon.runs().get(run).orElseThrow().details().delivery())
                .orElseThrow();
    }
}
