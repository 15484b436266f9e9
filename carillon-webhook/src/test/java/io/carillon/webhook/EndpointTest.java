package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.HandlerOptions;
import io.carillon.run.AttemptRecord;
import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.ScheduleOptions;
import io.carillon.schedule.When;
import io.carillon.spi.Secret;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.sign.SigningSecret;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Endpoints in an application: runs find them at each attempt, use their queue, and get secrets from nowhere else. */
@CarillonTest(at = "2026-11-15T12:00:00Z")
class EndpointTest {
    private static final HandlerType<Map<String, String>> OTHER = otherType();
    private final CarillonKit kit;
    private final Map<String, Endpoint> endpoints = new ConcurrentHashMap<>();
    private volatile boolean adHocUrls = true;
    private volatile boolean unreachable;
    private TestReceiver testReceiver;
    private Webhooks webhooks;
    private Carillon carillon;

    EndpointTest(CarillonKit kit) {
        this.kit = kit;
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // a class literal has no type arguments
    private static HandlerType<Map<String, String>> otherType() {
        return (HandlerType) HandlerType.of("other", Map.class);
    }

    @BeforeEach
    void open() throws Exception {
        kit.database().clear();
        testReceiver = new TestReceiver();
        EndpointSource source = new EndpointSource() {
            @Override
            public Optional<Endpoint> find(String project, String name) {
                if (unreachable) throw new CarillonException(ErrorCode.DATABASE_UNREACHABLE, "no connection");
                return Optional.ofNullable(endpoints.get(project + "/" + name));
            }

            @Override
            public boolean allowsAdHocUrls(String project) {
                return adHocUrls;
            }
        };
        webhooks = Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().allow("127.0.0.0/8"))
                .endpoint(Endpoint.named("fixed", testReceiver.url()))
                .endpoints(source)
                .build();
        Retry retry = Retry.exponential(Duration.ofMinutes(1)).factor(1).attempts(3);
        carillon = webhooks.registerOn(
                        Carillon.on(kit.database().dataSource()),
                        Webhooks.defaultOptions().retry(retry))
                .handle(OTHER, (payload, run) -> {})
                .build();
        kit.drive(carillon);
    }

    @AfterEach
    void close() {
        carillon.close();
        webhooks.close();
        testReceiver.close();
    }

    private void put(Endpoint endpoint) {
        endpoints.put("default/" + endpoint.name(), endpoint);
    }

    private RunId enqueue(WebhookTarget target) {
        return carillon.enqueue(Webhooks.TYPE, target).run();
    }

    @Test
    void a_unique_key_belongs_to_one_endpoint() {
        Enqueue keyed = Enqueue.after(Duration.ofHours(1)).uniqueKey("k", Duration.ofHours(2));
        EnqueueResult first = carillon.enqueue(Webhooks.TYPE, WebhookTarget.to("orders"), keyed);

        assertThat(carillon.enqueue(Webhooks.TYPE, WebhookTarget.to("mail"), keyed))
                .isInstanceOf(EnqueueResult.Enqueued.class);
        assertThat(carillon.enqueue(Webhooks.TYPE, WebhookTarget.post("https://a.example/"), keyed))
                .isInstanceOf(EnqueueResult.Enqueued.class);
        assertThat(carillon.enqueue(Webhooks.TYPE, WebhookTarget.to("orders"), keyed))
                .isEqualTo(new EnqueueResult.Duplicate(first.run()));
        assertThat(carillon.runs().get(first.run()).orElseThrow().details().uniqueKey())
                .isEqualTo("k");
        carillon.runs().cancel(first.run(), "test");
        assertThat(carillon.runs().get(first.run()).orElseThrow().details().uniqueKey())
                .isEqualTo("k");
    }

    @Test
    void runs_and_schedules_of_an_endpoint_use_its_queue_and_no_others_do() {
        put(Endpoint.named("orders", testReceiver.url()));
        WebhookTarget target = WebhookTarget.to("orders");
        When when = When.cron("0 * * * *", "UTC");

        assertThat(carillon.runs().get(enqueue(target)).orElseThrow().queue()).isEqualTo("endpoint.orders");
        assertThat(carillon.schedules()
                        .upsert("hourly", when, Webhooks.TYPE, target)
                        .schedule()
                        .definition()
                        .template()
                        .queue())
                .isEqualTo("endpoint.orders");
        assertThat(carillon.runs()
                        .get(enqueue(WebhookTarget.post(testReceiver.url())))
                        .orElseThrow()
                        .queue())
                .isEqualTo("webhooks");

        refused(() -> carillon.enqueue(Webhooks.TYPE, target, Enqueue.now().queue("mine")), "Leave the queue out");
        refused(
                () -> carillon.schedules()
                        .upsert(
                                "other",
                                when,
                                Webhooks.TYPE,
                                target,
                                ScheduleOptions.defaults().queue("mine")),
                "Leave the queue out");
        refused(
                () -> carillon.enqueue(OTHER, Map.of(), Enqueue.now().queue("endpoint.orders")),
                "belong to webhook endpoints");
        refused(
                () -> carillon.schedules()
                        .upsert(
                                "other",
                                when,
                                OTHER,
                                Map.of(),
                                ScheduleOptions.defaults().queue("endpoint.orders")),
                "belong to webhook endpoints");
        refused(
                () -> carillon.enqueue(
                        Webhooks.TYPE,
                        WebhookTarget.post(testReceiver.url()),
                        Enqueue.now().queue("endpoint.orders")),
                "belong to webhook endpoints");
    }

    private static void refused(Runnable call, String why) {
        assertThatThrownBy(call::run).isInstanceOf(CarillonException.class).hasMessageContaining(why);
    }

    @Test
    void the_retries_of_an_endpoint_apply_to_its_runs_unless_they_have_their_own() {
        put(Endpoint.named("orders", testReceiver.url()).retry(Retry.none()));
        testReceiver.respondWith(TestReceiver.response(500, "broken"));
        RunId of = enqueue(WebhookTarget.to("orders"));
        RunId own = carillon.enqueue(
                        Webhooks.TYPE,
                        WebhookTarget.to("orders"),
                        Enqueue.now().retry(Retry.exponential(Duration.ZERO).attempts(2)))
                .run();
        kit.runDue();

        assertThat(carillon.runs().get(of).orElseThrow())
                .returns(RunState.DEAD, Run::state)
                .returns(1, Run::failures);
        assertThat(carillon.runs().get(own).orElseThrow())
                .returns(RunState.DEAD, Run::state)
                .returns(2, Run::failures);
    }

    @Test
    void the_retries_of_an_endpoint_apply_if_its_receiver_never_calls_back() {
        put(Endpoint.named("orders", testReceiver.url())
                .callback(Duration.ofHours(1))
                .retry(Retry.none()));
        testReceiver.respondWith(TestReceiver.status(202));
        RunId run = enqueue(WebhookTarget.to("orders"));
        kit.runDue();
        kit.advance(Duration.ofMinutes(61)).runDue();

        assertThat(carillon.runs().get(run).orElseThrow().state()).isEqualTo(RunState.DEAD);
    }

    @Test
    void each_attempt_reads_the_endpoint_again_and_records_the_called_url() {
        RunId run = enqueue(WebhookTarget.to("orders").body("[1]"));
        kit.runDue();
        Delivery missing = delivery(run);
        assertThat(missing.verdict()).isEqualTo(Verdict.NOT_SENDABLE);
        assertThat(missing.note())
                .isEqualTo("Project \"default\" has no endpoint named \"orders\". Create it, or cancel the run.");
        assertThat(missing.url()).isNull();

        testReceiver.respondWith(TestReceiver.response(500, "broken"));
        put(Endpoint.named("orders", testReceiver.url() + "/old?token=t0ps3cret"));
        kit.advance(Duration.ofMinutes(2)).runDue();
        assertThat(delivery(run).url()).endsWith("/hook/old").doesNotContain("t0ps3cret");

        testReceiver.respondWith(TestReceiver.response(200, ""));
        put(Endpoint.named("orders", testReceiver.url() + "/new").method("PUT").header("X-Team", "a"));
        kit.advance(Duration.ofMinutes(2)).runDue();
        assertThat(delivery(run).url()).endsWith("/hook/new");
        assertThat(carillon.runs().get(run).orElseThrow().state()).isEqualTo(RunState.SUCCEEDED);
        TestReceiver.ReceivedRequest last = testReceiver.requests().get(1);
        assertThat(last.method()).isEqualTo("PUT");
        assertThat(last.header("x-team")).isEqualTo("a");
        assertThat(last.body()).isEqualTo("[1]");
    }

    private Delivery delivery(RunId run) {
        List<AttemptRecord> failed = carillon.runs().attempts(run);
        return Delivery.parse(carillon.runs().get(run).orElseThrow().details().delivery())
                .or(() -> Delivery.parse(failed.get(failed.size() - 1).delivery()))
                .orElseThrow();
    }

    @Test
    void a_message_whose_endpoint_cannot_be_read_waits_without_a_failure() {
        put(Endpoint.named("orders", testReceiver.url()));
        unreachable = true;
        RunId run = enqueue(WebhookTarget.to("orders"));
        kit.runDue();
        assertThat(delivery(run).verdict()).isEqualTo(Verdict.HELD_BACK);
        assertThat(carillon.runs().get(run).orElseThrow().failures()).isZero();

        unreachable = false;
        kit.advance(Duration.ofSeconds(6)).runDue();
        assertThat(carillon.runs().get(run).orElseThrow().state()).isEqualTo(RunState.SUCCEEDED);
    }

    @Test
    void a_secret_header_is_sent_and_shown_nowhere_and_a_message_cannot_replace_headers() throws Exception {
        Endpoint endpoint = Endpoint.named("orders", testReceiver.url())
                .header("x-team", "endpoint")
                .secretHeader("Authorization", () -> Secret.of("Bearer t0ps3cret"));
        put(endpoint);
        WebhookTarget target = WebhookTarget.to("orders")
                .header("authorization", "Bearer mine")
                .header("x-team", "message")
                .header("x-message", "m");
        Delivery delivery = webhooks.test("default", target);

        TestReceiver.ReceivedRequest received = testReceiver.requests().get(0);
        assertThat(received.header("authorization")).isEqualTo("Bearer t0ps3cret");
        assertThat(received.header("x-team")).isEqualTo("endpoint");
        assertThat(received.header("x-message")).isEqualTo("m");
        assertThat(delivery.toString() + delivery.toText() + target + endpoint).doesNotContain("t0ps3cret");
    }

    @Test
    void a_url_gets_no_secret_of_any_endpoint() throws Exception {
        put(Endpoint.named("orders", testReceiver.url())
                .signedWith(() -> List.of(Secret.of(SigningSecret.generate().reveal())))
                .secretHeader("Authorization", () -> Secret.of("Bearer t0ps3cret")));
        webhooks.test("default", WebhookTarget.post(testReceiver.url()));

        assertThat(testReceiver.requests().get(0).headers()).doesNotContainKeys("authorization", "webhook-signature");
    }

    @Test
    void a_project_may_forbid_urls_that_are_not_endpoints() throws Exception {
        RunId run = enqueue(WebhookTarget.post(testReceiver.url()));
        adHocUrls = false;
        kit.runDue();

        assertThat(delivery(run).verdict()).isEqualTo(Verdict.NOT_SENDABLE);
        assertThat(delivery(run).note()).contains("allows endpoints only");
        assertThat(webhooks.test("default", WebhookTarget.post(testReceiver.url()))
                        .verdict())
                .isEqualTo(Verdict.NOT_SENDABLE);
        assertThat(webhooks.replay("default", run, WebhookTarget.post(testReceiver.url()))
                        .verdict())
                .isEqualTo(Verdict.NOT_SENDABLE);
        assertThat(testReceiver.requests()).isEmpty();
        assertThat(webhooks.test("any-project", WebhookTarget.to("fixed")).verdict())
                .isEqualTo(Verdict.DELIVERED);
    }

    @Test
    void a_handler_cannot_have_the_queue_of_an_endpoint() {
        try (Carillon other = Carillon.on(kit.database().dataSource())
                .handle(OTHER, (payload, run) -> {}, HandlerOptions.defaults().queue("endpoint.orders"))
                .build()) {
            refused(() -> other.enqueue(OTHER, Map.of()), "belong to webhook endpoints");
        }
        refused(
                () -> Webhooks.builder()
                        .endpoint(Endpoint.named("a", "https://a.example"))
                        .endpoint(Endpoint.named("a", "https://b.example")),
                "Two endpoints are named 'a'");
    }
}
