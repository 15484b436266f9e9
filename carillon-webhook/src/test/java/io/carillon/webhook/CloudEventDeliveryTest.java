package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Carillon;
import io.carillon.event.CloudEventMode;
import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.EventType;
import io.carillon.event.PublishResult;
import io.carillon.event.Subscribe;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.event.Topic;
import io.carillon.run.Origin;
import io.carillon.run.Payload;
import io.carillon.run.Retry;
import io.carillon.run.Run;
import io.carillon.run.RunFilter;
import io.carillon.spi.Secret;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.sign.SigningSecret;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Subscriptions whose events are sent to an endpoint as CloudEvents. */
@CarillonTest
class CloudEventDeliveryTest {
    private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    private static final EventType<Payload> PLACED = Topic.named("orders").event("order.placed", Payload.class);

    private final CarillonKit kit;
    private TestReceiver receiver;
    private Webhooks webhooks;
    private Carillon carillon;

    CloudEventDeliveryTest(CarillonKit kit) {
        this.kit = kit;
    }

    @BeforeEach
    void open() throws Exception {
        kit.database().clear();
        receiver = new TestReceiver();
        webhooks = Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().allow("127.0.0.0/8"))
                .endpoint(Endpoint.named("shop", receiver.url()).signedWith(() -> List.of(Secret.of(SECRET))))
                .build();
        carillon = webhooks.registerOn(
                        Carillon.on(kit.database().dataSource()),
                        Webhooks.defaultOptions()
                                .retry(Retry.exponential(Duration.ofMinutes(1)).attempts(1)))
                .subscribe(
                        "structured",
                        EventPattern.of("orders", "order.*"),
                        new SubscriptionTarget.Endpoint("shop", CloudEventMode.STRUCTURED),
                        Subscribe.inOrder())
                .build();
        kit.drive(carillon);
        receiver.respondWith(TestReceiver.status(204));
    }

    @AfterEach
    void close() {
        carillon.close();
        webhooks.close();
        receiver.close();
    }

    private static Payload json(String text) {
        return new Payload(text.getBytes(StandardCharsets.UTF_8), "json");
    }

    private EventId publish(String data, String key) {
        return ((PublishResult.Published) carillon.publish(PLACED.of(json(data)).key(key))).id();
    }

    private String publishedAt(EventId id) {
        return kit.database()
                .query("SELECT to_char(published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
                        + " FROM carillon.event_store WHERE id = '" + id.value() + "'")
                .text();
    }

    @Test
    void an_endpoint_gets_a_signed_cloud_event_in_structured_mode() {
        EventId id = publish("{\"total\": 12345678901234567890.10}", "o-1");

        kit.runDue();

        TestReceiver.ReceivedRequest request = receiver.requests().get(0);
        assertThat(request.method()).isEqualTo("POST");
        assertThat(request.header("content-type")).isEqualTo("application/cloudevents+json; charset=utf-8");
        assertThat(request.body())
                .isEqualTo(("{\"specversion\":\"1.0\",\"id\":\"%s\",\"source\":\"/projects/default/topics/orders\","
                                + "\"type\":\"order.placed\",\"subject\":\"o-1\",\"time\":\"%s\","
                                + "\"datacontenttype\":\"application/json\","
                                + "\"data\":{\"total\": 12345678901234567890.10}}")
                        .formatted(id, publishedAt(id)));
        assertThat(request.header("webhook-signature"))
                .isEqualTo(SigningSecret.signatures(
                        List.of(SigningSecret.parse(SECRET)),
                        request.header("webhook-id"),
                        Long.parseLong(request.header("webhook-timestamp")),
                        request.body().getBytes(StandardCharsets.UTF_8)));
        Run delivery = carillon.events().deliveries(id, 10).get(0);
        assertThat(delivery.origin()).isEqualTo(Origin.EVENT);
        assertThat(delivery.queue()).isEqualTo("endpoint.shop");
    }

    @Test
    void an_endpoint_gets_the_attributes_as_headers_in_binary_mode() {
        carillon.events()
                .subscribe(SubscriptionDefinition.of(
                        "binary",
                        EventPattern.topic("orders"),
                        new SubscriptionTarget.Endpoint("shop", CloudEventMode.BINARY),
                        Subscribe.inAnyOrder()));
        carillon.events().unsubscribe("structured");

        EventId id = publish("{\"order\": 1}", "Käse \"1\" 100%");
        kit.runDue();

        TestReceiver.ReceivedRequest request = receiver.requests().get(0);
        assertThat(request.body()).isEqualTo("{\"order\": 1}");
        assertThat(request.header("content-type")).isEqualTo("application/json");
        assertThat(request.header("ce-specversion")).isEqualTo("1.0");
        assertThat(request.header("ce-id")).isEqualTo(id.toString());
        assertThat(request.header("ce-source")).isEqualTo("/projects/default/topics/orders");
        assertThat(request.header("ce-type")).isEqualTo("order.placed");
        assertThat(request.header("ce-subject")).isEqualTo("K%C3%A4se%20%221%22%20100%25");
        assertThat(request.header("ce-time")).isEqualTo(publishedAt(id));
        assertThat(receiver.requests()).hasSize(1);
    }

    @Test
    void headers_of_the_publisher_are_http_headers_with_a_prefix_in_both_modes() {
        carillon.events()
                .subscribe(SubscriptionDefinition.of(
                        "binary",
                        EventPattern.topic("orders"),
                        new SubscriptionTarget.Endpoint("shop", CloudEventMode.BINARY),
                        Subscribe.inAnyOrder()));

        carillon.publish(
                PLACED.of(json("1")).key("o-1").header("tenant", "acme \"1\"").header("host", "other.example"));
        kit.runDue();

        assertThat(receiver.requests()).hasSize(2).allSatisfy(request -> {
            assertThat(request.header("carillon-event-tenant")).isEqualTo("acme \"1\"");
            assertThat(request.header("carillon-event-host")).isEqualTo("other.example");
            assertThat(request.header("host")).isNotEqualTo("other.example");
            assertThat(request.body()).doesNotContain("acme");
        });
    }

    @Test
    void two_subscriptions_may_send_one_event_to_the_same_endpoint() {
        carillon.events()
                .subscribe(SubscriptionDefinition.of(
                        "again",
                        EventPattern.topic("orders"),
                        new SubscriptionTarget.Endpoint("shop", CloudEventMode.STRUCTURED),
                        Subscribe.inAnyOrder()));

        EventId id = publish("1", "o-1");
        kit.runDue();

        assertThat(receiver.requests()).hasSize(2);
        assertThat(carillon.events().deliveries(id, 10)).hasSize(2);
    }

    @Test
    void large_data_is_loaded_at_the_attempt_and_a_dead_run_has_it() {
        receiver.respondWith(TestReceiver.response(400, "no"));
        String large = "\"" + "x".repeat(50_000) + "\"";

        publish(large, "o-1");
        kit.runDue();

        assertThat(receiver.requests().get(0).body()).endsWith("\"data\":" + large + "}");
        Run dead = carillon.runs().list(RunFilter.all()).get(0);
        kit.database().execute("DELETE FROM carillon.event_store");
        receiver.respondWith(TestReceiver.status(204));
        carillon.runs().redrive(dead.id());
        kit.runDue();
        assertThat(receiver.requests()).hasSize(2);
        assertThat(receiver.requests().get(1).body()).endsWith("\"data\":" + large + "}");
    }
}
