package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import io.carillon.run.RunId;
import io.carillon.spi.Secret;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.sign.SigningSecret;
import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Signed requests, verified with the reference library of Standard Webhooks. */
class SignatureTest {
    private static final String BODY = "{\"text\": \"gr\u00FC\u00DFe \uD83D\uDD14\", \"n\": 1.10}";
    private final SigningSecret old = SigningSecret.generate();
    private final SigningSecret fresh = SigningSecret.generate();
    private TestReceiver testReceiver;

    @BeforeEach
    void listen() throws Exception {
        testReceiver = new TestReceiver();
    }

    @AfterEach
    void stop() {
        testReceiver.close();
    }

    @Test
    void the_reference_library_accepts_it() throws Exception {
        TestReceiver.ReceivedRequest receivedRequest = sent(List.of(fresh));

        assertThat(receivedRequest.body()).isEqualTo(BODY);
        assertThatCode(() -> verify(fresh, receivedRequest)).doesNotThrowAnyException();
        assertThatThrownBy(() -> verify(old, receivedRequest)).isInstanceOf(WebhookVerificationException.class);
    }

    @Test
    void during_a_rotation_either_secret_accepts_it() throws Exception {
        TestReceiver.ReceivedRequest receivedRequest = sent(List.of(fresh, old));

        assertThat(receivedRequest.header("webhook-signature").split(" "))
                .hasSize(2)
                .allMatch(one -> one.startsWith("v1,"));
        assertThatCode(() -> verify(old, receivedRequest)).doesNotThrowAnyException();
        assertThatCode(() -> verify(fresh, receivedRequest)).doesNotThrowAnyException();
    }

    @Test
    void during_a_change_to_ed25519_the_reference_library_accepts_the_old_secret() throws Exception {
        TestReceiver.ReceivedRequest receivedRequest = sent(List.of(SigningSecret.generateEd25519(), old));

        assertThat(receivedRequest.header("webhook-signature")).matches("v1a,\\S+ v1,\\S+");
        assertThatCode(() -> verify(old, receivedRequest)).doesNotThrowAnyException();
    }

    @Test
    void a_changed_body_or_id_fails_the_verification() throws Exception {
        TestReceiver.ReceivedRequest receivedRequest = sent(List.of(fresh));
        TestReceiver.ReceivedRequest other = new TestReceiver.ReceivedRequest(
                receivedRequest.method(),
                receivedRequest.path(),
                receivedRequest.headers(),
                "{}".getBytes(java.nio.charset.StandardCharsets.UTF_8));

        assertThatThrownBy(() -> verify(fresh, other)).isInstanceOf(WebhookVerificationException.class);
    }

    @Test
    void a_replay_has_the_id_of_its_run() throws Exception {
        RunId run = RunId.generate();
        try (Webhooks webhooks = webhooks(List.of(fresh))) {
            webhooks.replay("default", run, target());
            webhooks.replay("default", run, target());
        }

        assertThat(testReceiver.requests())
                .extracting(receivedRequest -> receivedRequest.header("webhook-id"))
                .containsOnly(run.toString());
        assertThat(testReceiver.requests()).hasSize(2).allSatisfy(receivedRequest -> verify(fresh, receivedRequest));
    }

    @Test
    void an_endpoint_without_a_secret_now_sends_nothing() throws Exception {
        try (Webhooks webhooks = webhooks(List.of())) {
            Delivery delivery = webhooks.test("shop", target());

            assertThat(delivery.verdict()).isEqualTo(Verdict.NOT_SENDABLE);
            assertThat(delivery.note()).contains("\"orders\"").contains("no signing secret");
            assertThat(testReceiver.requests()).isEmpty();
        }
    }

    private TestReceiver.ReceivedRequest sent(List<SigningSecret> secrets) throws InterruptedException {
        try (Webhooks webhooks = webhooks(secrets)) {
            assertThat(webhooks.test("default", target()).verdict()).isEqualTo(Verdict.DELIVERED);
        }
        return testReceiver.requests().get(0);
    }

    private WebhookTarget target() {
        return WebhookTarget.to("orders").body(BODY);
    }

    private Webhooks webhooks(List<SigningSecret> secrets) {
        List<Secret> values =
                secrets.stream().map(secret -> Secret.of(secret.reveal())).toList();
        return Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().allow("127.0.0.0/8"))
                .endpoint(Endpoint.named("orders", testReceiver.url()).signedWith(() -> values))
                .build();
    }

    private static void verify(SigningSecret secret, TestReceiver.ReceivedRequest receivedRequest) throws Exception {
        Map<String, List<String>> headers = receivedRequest.headers().entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, entry -> List.of(entry.getValue())));
        new Webhook(secret.reveal()).verify(receivedRequest.body(), HttpHeaders.of(headers, (name, value) -> true));
    }
}
