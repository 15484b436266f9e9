package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.guard.Resolver;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A name server that changes its response between the check and the connection, or between two deliveries. 127.0.0.2
 * represents the public address.
 */
@SuppressWarnings("AddressSelection") // IP addresses, not names
class DnsRebindingTest {
    private static final String URL = "http://rebind.example:%d/hook";

    @Test
    void the_checked_address_is_the_connected_address() throws Exception {
        ScriptedResolver scriptedResolver = new ScriptedResolver("127.0.0.2", "127.0.0.1");
        try (TestReceiver allowed = new TestReceiver(InetAddress.getByName("127.0.0.2"), 0);
                ConnectionDetector connectionDetector =
                        new ConnectionDetector(InetAddress.getByName("127.0.0.1"), allowed.port());
                Webhooks webhooks = webhooks(scriptedResolver)) {
            Delivery delivery = webhooks.test("default", WebhookTarget.post(URL.formatted(allowed.port())));

            assertThat(delivery.verdict()).isEqualTo(Verdict.DELIVERED);
            assertThat(allowed.requests()).hasSize(1);
            assertThat(allowed.requests().get(0).header("host")).isEqualTo("rebind.example:" + allowed.port());
            assertThat(scriptedResolver.left).as("the name is resolved once").hasSize(1);
            assertThat(connectionDetector.hasNoConnection()).isTrue();
        }
    }

    @Test
    void every_delivery_is_checked_even_with_a_pooled_connection() throws Exception {
        ScriptedResolver scriptedResolver = new ScriptedResolver("127.0.0.2", "127.0.0.1", "127.0.0.2");
        try (TestReceiver allowed = new TestReceiver(InetAddress.getByName("127.0.0.2"), 0);
                ConnectionDetector connectionDetector =
                        new ConnectionDetector(InetAddress.getByName("127.0.0.1"), allowed.port());
                Webhooks webhooks = webhooks(scriptedResolver)) {
            WebhookTarget target = WebhookTarget.post(URL.formatted(allowed.port()));

            List<Verdict> verdicts = List.of(
                    webhooks.test("default", target).verdict(),
                    webhooks.test("default", target).verdict(),
                    webhooks.test("default", target).verdict());

            assertThat(verdicts).containsExactly(Verdict.DELIVERED, Verdict.UNREACHABLE, Verdict.DELIVERED);
            assertThat(allowed.requests()).hasSize(2);
            assertThat(connectionDetector.hasNoConnection()).isTrue();
        }
    }

    @Test
    void a_pooled_connection_serves_neither_another_address_nor_another_name() throws Exception {
        try (TestReceiver one = new TestReceiver(InetAddress.getByName("127.0.0.2"), 0);
                TestReceiver other = new TestReceiver(InetAddress.getByName("127.0.0.3"), one.port());
                Webhooks webhooks = Webhooks.builder()
                        .addressPolicy(AddressPolicy.defaults().allow("127.0.0.0/8"))
                        .resolver(new ScriptedResolver("127.0.0.2", "127.0.0.3", "127.0.0.3"))
                        .build()) {
            webhooks.test("default", WebhookTarget.post(URL.formatted(one.port())));
            webhooks.test("default", WebhookTarget.post(URL.formatted(one.port())));
            webhooks.test("default", WebhookTarget.post("http://second.example:" + one.port() + "/hook"));

            assertThat(one.requests()).hasSize(1);
            assertThat(other.requests())
                    .extracting(receivedRequest -> receivedRequest.header("host"))
                    .containsExactly("rebind.example:" + one.port(), "second.example:" + one.port());
        }
    }

    @Test
    void a_redirect_to_an_internal_address_is_a_failure_and_is_not_followed() throws Exception {
        try (ConnectionDetector connectionDetector = new ConnectionDetector();
                TestReceiver testReceiver = new TestReceiver(InetAddress.getByName("127.0.0.2"), 0);
                Webhooks webhooks = webhooks(new ScriptedResolver())) {
            for (int status : new int[] {301, 302, 303, 307, 308}) {
                testReceiver.respondWith(TestReceiver.status(
                        status, "Location", "http://127.0.0.1:" + connectionDetector.port() + "/secrets"));

                Delivery delivery = webhooks.test("default", WebhookTarget.post(testReceiver.url()));

                assertThat(delivery.verdict()).isEqualTo(Verdict.FAILED);
                assertThat(delivery.status()).isEqualTo(status);
            }
            assertThat(connectionDetector.hasNoConnection()).isTrue();
        }
    }

    @Test
    void a_proxy_of_the_jvm_is_not_asked() throws Exception {
        try (ConnectionDetector connectionDetector = new ConnectionDetector();
                TestReceiver testReceiver = new TestReceiver(InetAddress.getByName("127.0.0.2"), 0)) {
            System.setProperty("http.proxyHost", "127.0.0.1");
            System.setProperty("http.proxyPort", Integer.toString(connectionDetector.port()));
            System.setProperty("http.nonProxyHosts", "");
            try (Webhooks webhooks = webhooks(new ScriptedResolver())) {
                assertThat(webhooks.test("default", WebhookTarget.post(testReceiver.url()))
                                .verdict())
                        .isEqualTo(Verdict.DELIVERED);
                assertThat(connectionDetector.hasNoConnection()).isTrue();
            } finally {
                System.clearProperty("http.proxyHost");
                System.clearProperty("http.proxyPort");
                System.clearProperty("http.nonProxyHosts");
            }
        }
    }

    private static Webhooks webhooks(Resolver resolver) {
        return Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().allow("127.0.0.2/32"))
                .resolver(resolver)
                .build();
    }

    /** Returns one response after the other. */
    private static final class ScriptedResolver implements Resolver {
        private final Deque<String> left;

        ScriptedResolver(String... answers) {
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
