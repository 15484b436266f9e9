package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.CarillonException;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.guard.Resolver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All known notations of forbidden addresses. A listener on all addresses of this machine, on an allowed port, receives
 * no connection.
 */
class ForbiddenUrlsTest {
    private static final Map<String, String[]> NAMES = Map.of(
            "loop.example", new String[] {"127.0.0.1"},
            "six.example", new String[] {"::1"},
            "mixed.example", new String[] {"8.8.8.8", "127.0.0.1"},
            "mixed-six.example", new String[] {"8.8.8.8", "::1"},
            "private.example", new String[] {"10.0.0.1"},
            "metadata.example", new String[] {"169.254.169.254"},
            "unique-local.example", new String[] {"fd00:ec2::254"},
            "nat64.example", new String[] {"64:ff9b::7f00:1"},
            "public.example", new String[] {"8.8.8.8"},
            "xn--bcher-kva.example", new String[] {"127.0.0.1"});
    private static final Resolver NAME_SERVER = host -> {
        // The response of an internal name server, or of the hosts file, for any other name.
        String[] answers = NAMES.getOrDefault(host, new String[] {"127.0.0.1"});
        InetAddress[] addresses = new InetAddress[answers.length];
        for (int i = 0; i < answers.length; i++) addresses[i] = literal(answers[i]);
        return addresses;
    };

    private static ConnectionDetector detector;
    private static Webhooks webhooks;

    @BeforeAll
    static void listen() throws IOException {
        detector = new ConnectionDetector();
        webhooks = Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().ports(detector.port()))
                .resolver(NAME_SERVER)
                .build();
    }

    @AfterAll
    static void stop() throws IOException {
        webhooks.close();
        detector.close();
    }

    static Stream<String> hosts() {
        return Stream.of(
                // IPv4 in the notations of different parsers
                "127.0.0.1",
                "127.0.0.2",
                "127.255.255.254",
                "127.1",
                "127.0.1",
                "2130706433",
                "4294967297",
                "0x7f000001",
                "0X7F000001",
                "0x7f.0.0.1",
                "0x7f.1",
                "127.0.0.0x1",
                "017700000001",
                "0177.0.0.1",
                "0177.0.0.01",
                "127.0.0.01",
                "00127.0.0.1",
                "127.000.000.001",
                "127.0.0.257",
                "383.0.0.1",
                "0.0.0.0",
                "0",
                "0x0",
                "0x",
                "00000000000",
                "127.0.0.1.",
                "127.0.0.1..",
                "127..0.0.1",
                ".127.0.0.1",
                "127.0.0.1%00",
                "127%2e0%2e0%2e1",
                "%31%32%37.0.0.1",
                "127\u30020\u30020\u30021",
                "127\uFF0E0\uFF0E0\uFF0E1",
                "\uFF11\uFF12\uFF17.0.0.1",
                "\u2460\u2461\u2466.\u24EA.\u24EA.\u2460",
                "\u0661\u0662\u0667.0.0.1",
                // IPv4 that is not public
                "10.0.0.1",
                "10.255.255.255",
                "100.64.0.1",
                "100.100.100.200",
                "168.63.129.16",
                "169.254.169.254",
                "169.254.170.2",
                "172.16.0.1",
                "172.31.255.255",
                "192.0.0.192",
                "192.0.2.1",
                "192.88.99.1",
                "192.168.0.1",
                "198.18.0.1",
                "198.51.100.7",
                "203.0.113.7",
                "224.0.0.1",
                "239.255.255.255",
                "240.0.0.1",
                "255.255.255.255",
                // IPv6
                "[::1]",
                "[0:0:0:0:0:0:0:1]",
                "[0000:0000:0000:0000:0000:0000:0000:0001]",
                "[::]",
                "[::127.0.0.1]",
                "[::7f00:1]",
                "[::ffff:127.0.0.1]",
                "[::FFFF:7F00:1]",
                "[0:0:0:0:0:ffff:127.0.0.1]",
                "[::ffff:0:127.0.0.1]",
                "[::ffff:10.0.0.1]",
                "[::ffff:a9fe:a9fe]",
                "[64:ff9b::7f00:1]",
                "[64:ff9b::127.0.0.1]",
                "[64:ff9b::a9fe:a9fe]",
                "[64:ff9b:1::7f00:1]",
                "[64:ff9b:1::808:808]",
                "[2002:7f00:1::]",
                "[2002:a9fe:a9fe::1]",
                "[2001:0:7f00:1::]",
                "[2001::1]",
                "[2001:10::1]",
                "[2001:20::1]",
                "[2001:db8::1]",
                "[3fff::1]",
                "[100::1]",
                "[5f00::1]",
                "[2606:4700::5efe:7f00:1]",
                "[2606:4700::200:5efe:7f00:1]",
                "[fc00::1]",
                "[fd00:ec2::254]",
                "[fe80::1]",
                "[fe80::1%lo]",
                "[fe80::1%25lo]",
                "[fe80::1%1]",
                "[::1%lo]",
                "[fec0::1]",
                "[ff02::1]",
                "[::1",
                "::1",
                "[[::1]]",
                "[::1]x",
                "[127.0.0.1]",
                "[localhost]",
                "[]",
                // names
                "localhost",
                "LOCALHOST",
                "localhost.",
                "localhost.localdomain",
                "foo.localhost",
                "printer.local",
                "db.internal",
                "metadata.google.internal",
                "secrets.corp",
                "nas.lan",
                "redis",
                "redis.",
                "\u24DB\u24DE\u24D2\u24D0\u24DB\u24D7\u24DE\u24E2\u24E3",
                "loc\u00ADalhost",
                "1.0.0.127.in-addr.arpa",
                "loop.example",
                "LOOP.EXAMPLE",
                "loop.example.",
                "loop\u3002example",
                "six.example",
                "mixed.example",
                "mixed-six.example",
                "private.example",
                "metadata.example",
                "unique-local.example",
                "nat64.example",
                "b\u00FCcher.example",
                "b\u2100.example",
                "a\uFF0Fb.example",
                "under_score.example",
                "-dash.example",
                "",
                ".",
                "*");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("hosts")
    void no_host_of_an_inner_network_is_reached(String host) throws InterruptedException {
        notReached("http://" + host + ":" + detector.port() + "/");
    }

    static Stream<String> urls() {
        return Stream.of(
                // ambiguous hosts
                "http://public.example@127.0.0.1:PORT/",
                "http://user:word@127.0.0.1:PORT/",
                "http://127.0.0.1:PORT@public.example/",
                "http://@127.0.0.1:PORT/",
                "http://public.example%40127.0.0.1:PORT/",
                "http://public.example\\@127.0.0.1:PORT/",
                "http://127.0.0.1:PORT\\@public.example/",
                "http://public.example#@127.0.0.1:PORT/",
                "http://public.example?@127.0.0.1:PORT/#x",
                "http://127.0.0.1:PORT#@public.example/",
                "http:///127.0.0.1:PORT/",
                "http:/127.0.0.1:PORT/",
                "http:\\\\127.0.0.1:PORT\\",
                "http:127.0.0.1:PORT/",
                "//127.0.0.1:PORT/",
                "127.0.0.1:PORT",
                " http://127.0.0.1:PORT/",
                "\thttp://127.0.0.1:PORT/",
                "http://127.0.0.1:PORT /",
                "http://127.0.0.1\t:PORT/",
                "http://127.0.0.1\r\n:PORT/",
                "http://127.0.0.1:PORT/\r\nHost: public.example",
                "http://127.0.0.1:PORT/ HTTP/1.1",
                "http://127.0.0.1\u0000.public.example:PORT/",
                "http://127.0.0.1;public.example:PORT/",
                "http://127.0.0.1,public.example:PORT/",
                "http://{127.0.0.1}:PORT/",
                // odd ports
                "http://127.0.0.1:PORT:80/",
                "http://127.0.0.1:0PORT/",
                "http://127.0.0.1:+PORT/",
                "http://127.0.0.1:-1/",
                "http://127.0.0.1:/",
                "http://127.0.0.1:0/",
                "http://127.0.0.1:65536/",
                "http://127.0.0.1:99999999999/",
                "http://127.0.0.1:8\uFF10/",
                "http://public.example:22/",
                "http://public.example:25/",
                "http://public.example:6379/",
                "https://public.example:5432/",
                // other schemes
                "ftp://127.0.0.1:PORT/",
                "file:///etc/passwd",
                "gopher://127.0.0.1:PORT/_x",
                "dict://127.0.0.1:PORT/",
                "ldap://127.0.0.1:PORT/",
                "jar:http://127.0.0.1:PORT/a.jar!/b",
                "unix:///var/run/docker.sock",
                "http+unix://127.0.0.1:PORT/",
                "ws://127.0.0.1:PORT/",
                "javascript:alert(1)",
                "data:text/plain,x",
                "");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("urls")
    void no_ambiguous_url_is_followed(String url) throws InterruptedException {
        notReached(url.replace("PORT", Integer.toString(detector.port())));
    }

    private static void notReached(String url) throws InterruptedException {
        try {
            WebhookTarget target = WebhookTarget.post(url).timeouts(Duration.ofSeconds(5), Duration.ofSeconds(2));
            Delivery delivery = webhooks.test("default", target);

            assertThat(delivery.verdict()).isEqualTo(Verdict.UNREACHABLE);
            assertThat(delivery.note()).isEqualTo(target.address() + " could not be reached");
        } catch (CarillonException refused) {
            assertThat(refused).hasMessageStartingWith("Invalid webhook");
        }
        assertThat(detector.hasNoConnection()).as("no connection").isTrue();
    }

    @Test
    void a_closed_port_and_a_blocked_host_give_the_same_result() throws Exception {
        int closed;
        try (ConnectionDetector gone = new ConnectionDetector()) {
            closed = gone.port();
        }
        WebhookTarget target = WebhookTarget.post("http://loop.example:" + closed + "/");
        try (Webhooks open = Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().allow("loop.example:" + closed))
                .resolver(NAME_SERVER)
                .build()) {
            Delivery unreachable = open.test("default", target);
            Delivery blocked = webhooks.test("default", target);

            assertThat(unreachable.note()).isEqualTo(blocked.note());
            assertThat(unreachable.verdict()).isEqualTo(blocked.verdict());
        }
    }

    private static InetAddress literal(String text) throws UnknownHostException {
        return InetAddress.getByName(text);
    }
}
