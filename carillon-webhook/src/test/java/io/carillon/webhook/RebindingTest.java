package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.webhook.guard.GuardPolicy;
import io.carillon.webhook.guard.Resolver;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A name server that changes its mind between the check and the connection, or between two deliveries. 127.0.0.2 stands for the public address. */
@SuppressWarnings("AddressSelection") // all of them are addresses, not names
class RebindingTest {
    private static final String URL = "http://rebind.example:%d/hook";

    @Test
    void what_was_checked_is_what_is_connected_to() throws Exception {
        Answers answers = new Answers("127.0.0.2", "127.0.0.1");
        try (Receiver allowed = new Receiver(InetAddress.getByName("127.0.0.2"), 0);
                Canary canary = new Canary(InetAddress.getByName("127.0.0.1"), allowed.port());
                Webhooks webhooks = webhooks(answers)) {
            Delivery delivery = webhooks.test("default", WebhookTarget.post(URL.formatted(allowed.port())));

            assertThat(delivery.verdict()).isEqualTo(Verdict.DELIVERED);
            assertThat(allowed.got()).hasSize(1);
            assertThat(allowed.got().get(0).header("host")).isEqualTo("rebind.example:" + allowed.port());
            assertThat(answers.left).as("the name is resolved once").hasSize(1);
            assertThat(canary.untouched()).isTrue();
        }
    }

    @Test
    void every_delivery_is_checked_anew_and_a_kept_connection_is_no_way_around() throws Exception {
        Answers answers = new Answers("127.0.0.2", "127.0.0.1", "127.0.0.2");
        try (Receiver allowed = new Receiver(InetAddress.getByName("127.0.0.2"), 0);
                Canary canary = new Canary(InetAddress.getByName("127.0.0.1"), allowed.port());
                Webhooks webhooks = webhooks(answers)) {
            WebhookTarget target = WebhookTarget.post(URL.formatted(allowed.port()));

            List<Verdict> verdicts = List.of(
                    webhooks.test("default", target).verdict(),
                    webhooks.test("default", target).verdict(),
                    webhooks.test("default", target).verdict());

            assertThat(verdicts).containsExactly(Verdict.DELIVERED, Verdict.UNREACHABLE, Verdict.DELIVERED);
            assertThat(allowed.got()).hasSize(2);
            assertThat(canary.untouched()).isTrue();
        }
    }

    @Test
    void a_kept_connection_serves_neither_another_address_nor_another_name() throws Exception {
        try (Receiver one = new Receiver(InetAddress.getByName("127.0.0.2"), 0);
                Receiver other = new Receiver(InetAddress.getByName("127.0.0.3"), one.port());
                Webhooks webhooks = Webhooks.builder()
                        .guard(GuardPolicy.defaults().allow("127.0.0.0/8"))
                        .resolver(new Answers("127.0.0.2", "127.0.0.3", "127.0.0.3"))
                        .build()) {
            webhooks.test("default", WebhookTarget.post(URL.formatted(one.port())));
            webhooks.test("default", WebhookTarget.post(URL.formatted(one.port())));
            webhooks.test("default", WebhookTarget.post("http://second.example:" + one.port() + "/hook"));

            assertThat(one.got()).hasSize(1);
            assertThat(other.got())
                    .extracting(got -> got.header("host"))
                    .containsExactly("rebind.example:" + one.port(), "second.example:" + one.port());
        }
    }

    @Test
    void a_redirect_to_the_inside_is_a_failure_and_is_not_followed() throws Exception {
        try (Canary canary = new Canary();
                Receiver receiver = new Receiver(InetAddress.getByName("127.0.0.2"), 0);
                Webhooks webhooks = webhooks(new Answers())) {
            for (int status : new int[] {301, 302, 303, 307, 308}) {
                receiver.answering(
                        Receiver.status(status, "Location", "http://127.0.0.1:" + canary.port() + "/secrets"));

                Delivery delivery = webhooks.test("default", WebhookTarget.post(receiver.url()));

                assertThat(delivery.verdict()).isEqualTo(Verdict.FAILED);
                assertThat(delivery.status()).isEqualTo(status);
            }
            assertThat(canary.untouched()).isTrue();
        }
    }

    @Test
    void a_proxy_of_the_jvm_is_not_asked() throws Exception {
        try (Canary canary = new Canary();
                Receiver receiver = new Receiver(InetAddress.getByName("127.0.0.2"), 0)) {
            System.setProperty("http.proxyHost", "127.0.0.1");
            System.setProperty("http.proxyPort", Integer.toString(canary.port()));
            System.setProperty("http.nonProxyHosts", "");
            try (Webhooks webhooks = webhooks(new Answers())) {
                assertThat(webhooks.test("default", WebhookTarget.post(receiver.url()))
                                .verdict())
                        .isEqualTo(Verdict.DELIVERED);
                assertThat(canary.untouched()).isTrue();
            } finally {
                System.clearProperty("http.proxyHost");
                System.clearProperty("http.proxyPort");
                System.clearProperty("http.nonProxyHosts");
            }
        }
    }

    private static Webhooks webhooks(Resolver resolver) {
        return Webhooks.builder()
                .guard(GuardPolicy.defaults().allow("127.0.0.2/32"))
                .resolver(resolver)
                .build();
    }

    /** One answer after the other. */
    private static final class Answers implements Resolver {
        private final Deque<String> left;

        Answers(String... answers) {
            left = new ArrayDeque<>(List.of(answers));
        }

        @Override
        public InetAddress[] resolve(String host) throws java.net.UnknownHostException {
            return new InetAddress[] {
                InetAddress.getByAddress(
                        host, InetAddress.getByName(left.removeFirst()).getAddress())
            };
        }
    }
}
