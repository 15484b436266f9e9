package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import io.carillon.run.RunId;
import io.carillon.seal.Secret;
import io.carillon.webhook.guard.GuardPolicy;
import io.carillon.webhook.sign.SigningSecret;
import java.net.http.HttpHeaders;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What we send, as the reference library of Standard Webhooks sees it. */
class SignatureTest {
    private static final String BODY = "{\"text\": \"gr\u00FC\u00DFe \uD83D\uDD14\", \"n\": 1.10}";
    private final SigningSecret old = SigningSecret.generate();
    private final SigningSecret fresh = SigningSecret.generate();
    private Receiver receiver;

    @BeforeEach
    void listen() throws Exception {
        receiver = new Receiver();
    }

    @AfterEach
    void stop() {
        receiver.close();
    }

    @Test
    void the_reference_library_accepts_it() throws Exception {
        Receiver.Got got = sent(List.of(fresh));

        assertThat(got.body()).isEqualTo(BODY);
        assertThatCode(() -> verify(fresh, got)).doesNotThrowAnyException();
        assertThatThrownBy(() -> verify(old, got)).isInstanceOf(WebhookVerificationException.class);
    }

    @Test
    void during_a_rotation_either_secret_accepts_it() throws Exception {
        Receiver.Got got = sent(List.of(fresh, old));

        assertThat(got.header("webhook-signature").split(" ")).hasSize(2).allMatch(one -> one.startsWith("v1,"));
        assertThatCode(() -> verify(old, got)).doesNotThrowAnyException();
        assertThatCode(() -> verify(fresh, got)).doesNotThrowAnyException();
    }

    @Test
    void whoever_changes_the_body_or_the_id_is_found_out() throws Exception {
        Receiver.Got got = sent(List.of(fresh));
        Receiver.Got other = new Receiver.Got(
                got.method(), got.path(), got.headers(), "{}".getBytes(java.nio.charset.StandardCharsets.UTF_8));

        assertThatThrownBy(() -> verify(fresh, other)).isInstanceOf(WebhookVerificationException.class);
    }

    @Test
    void a_replay_has_the_id_of_its_run() throws Exception {
        RunId run = RunId.next();
        try (Webhooks webhooks = webhooks(List.of(fresh))) {
            webhooks.replay("default", run, target());
            webhooks.replay("default", run, target());
        }

        assertThat(receiver.got()).extracting(got -> got.header("webhook-id")).containsOnly(run.toString());
        assertThat(receiver.got()).hasSize(2).allSatisfy(got -> verify(fresh, got));
    }

    @Test
    void an_unknown_secret_is_named_and_nothing_is_sent() throws Exception {
        try (Webhooks webhooks = Webhooks.builder()
                .guard(GuardPolicy.defaults().allow("127.0.0.0/8"))
                .build()) {
            Delivery delivery = webhooks.test("shop", target());

            assertThat(delivery.verdict()).isEqualTo(Verdict.NOT_SENDABLE);
            assertThat(delivery.note()).contains("'shop'").contains("'orders'");
            assertThat(receiver.got()).isEmpty();
        }
    }

    @Test
    void a_secret_header_is_sent_and_shown_nowhere() throws Exception {
        try (Webhooks webhooks = Webhooks.builder()
                .guard(GuardPolicy.defaults().allow("127.0.0.0/8"))
                .secrets((project, name) -> List.of(Secret.of("Bearer of-" + project + "-" + name)))
                .build()) {
            WebhookTarget target = WebhookTarget.post(receiver.url()).secretHeader("Authorization", "token");
            Delivery delivery = webhooks.test("shop", target);

            assertThat(receiver.got().get(0).header("authorization")).isEqualTo("Bearer of-shop-token");
            assertThat(delivery.toString() + delivery.text() + target).doesNotContain("Bearer");
        }
    }

    private Receiver.Got sent(List<SigningSecret> secrets) throws InterruptedException {
        try (Webhooks webhooks = webhooks(secrets)) {
            assertThat(webhooks.test("default", target()).verdict()).isEqualTo(Verdict.DELIVERED);
        }
        return receiver.got().get(0);
    }

    private WebhookTarget target() {
        return WebhookTarget.post(receiver.url()).signedWith("orders").body(BODY);
    }

    private static Webhooks webhooks(List<SigningSecret> secrets) {
        List<Secret> values =
                secrets.stream().map(secret -> Secret.of(secret.reveal())).toList();
        return Webhooks.builder()
                .guard(GuardPolicy.defaults().allow("127.0.0.0/8"))
                .secrets((project, name) -> values)
                .build();
    }

    private static void verify(SigningSecret secret, Receiver.Got got) throws Exception {
        Map<String, List<String>> headers = got.headers().entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, entry -> List.of(entry.getValue())));
        new Webhook(secret.reveal()).verify(got.body(), HttpHeaders.of(headers, (name, value) -> true));
    }
}
