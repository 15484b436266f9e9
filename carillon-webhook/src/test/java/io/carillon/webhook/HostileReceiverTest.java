package io.carillon.webhook;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.value.TextCleaner;
import io.carillon.webhook.guard.AddressPolicy;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Receivers that respond slowly, with too much data, or not with HTTP. */
@Timeout(30)
class HostileReceiverTest {
    private static final Duration SHORT = Duration.ofMillis(400);
    private final Webhooks webhooks = Webhooks.builder()
            .addressPolicy(AddressPolicy.defaults().allow("127.0.0.0/8"))
            .build();
    private RawReceiver receiver;

    @BeforeEach
    void listen() throws IOException {
        receiver = new RawReceiver();
    }

    @AfterEach
    void stop() throws IOException {
        webhooks.close();
        receiver.close();
    }

    @Test
    void one_that_never_answers_ends_at_the_timeout() throws Exception {
        receiver.script = out -> Thread.sleep(60_000);

        assertThat(sent(SHORT).verdict()).isEqualTo(Verdict.TIMED_OUT);
    }

    @Test
    void one_that_drips_its_header_ends_at_the_timeout() throws Exception {
        receiver.script = out -> drip(out, "HTTP/1.1 200 OK\r\nx: ");

        assertThat(sent(SHORT).verdict()).isEqualTo(Verdict.TIMED_OUT);
    }

    @Test
    void one_that_drips_its_body_ends_at_the_timeout() throws Exception {
        receiver.script = out -> drip(out, "HTTP/1.1 200 OK\r\ncontent-length: 50000\r\n\r\n");

        assertThat(sent(SHORT).verdict()).isEqualTo(Verdict.TIMED_OUT);
    }

    @Test
    void one_that_sends_interim_answers_for_ever_ends_at_the_timeout() throws Exception {
        receiver.script = out -> {
            while (true) write(out, "HTTP/1.1 102 Processing\r\n\r\n");
        };

        assertThat(sent(SHORT).verdict()).isIn(Verdict.TIMED_OUT, Verdict.FAILED);
    }

    @Test
    void one_that_does_not_speak_tls_is_a_failure() throws Exception {
        receiver.script = out -> write(out, "HTTP/1.1 200 OK\r\n\r\n");

        Delivery delivery = webhooks.test(
                "default",
                WebhookTarget.post("https://127.0.0.1:" + receiver.port() + "/").timeouts(SHORT, SHORT));

        assertThat(delivery.verdict()).isIn(Verdict.FAILED, Verdict.TIMED_OUT);
    }

    @Test
    void an_endless_body_is_read_and_kept_up_to_a_limit() throws Exception {
        AtomicInteger written = new AtomicInteger();
        receiver.script = out -> {
            write(out, "HTTP/1.1 200 OK\r\n\r\n");
            while (true) {
                write(out, "x".repeat(8192));
                written.addAndGet(8192);
            }
        };

        Delivery delivery = sent(Duration.ofSeconds(10));

        assertThat(delivery.verdict()).isEqualTo(Verdict.DELIVERED);
        assertThat(delivery.body()).hasSize(4096);
        assertThat(delivery.toText().length()).isLessThan(TextCleaner.MAX_LENGTH);
        // The buffers of the sockets hold some data; an unbounded reader would read until the timeout.
        assertThat(written.get()).isLessThan(32 * 1024 * 1024);
    }

    @Test
    void a_compressed_body_is_not_unpacked_and_none_is_asked_for() throws Exception {
        receiver.script = out -> {
            write(out, "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n");
            out.write(new byte[] {0x1F, (byte) 0x8B, 8, 0});
        };

        Delivery delivery = sent(Duration.ofSeconds(10));

        assertThat(delivery.verdict()).isEqualTo(Verdict.DELIVERED);
        assertThat(delivery.body()).hasSize(4);
        assertThat(receiver.request).doesNotContainIgnoringCase("accept-encoding");
    }

    @Test
    void a_header_without_end_is_a_failure() throws Exception {
        receiver.script = out -> {
            write(out, "HTTP/1.1 200 OK\r\nx: ");
            for (int i = 0; i < 1000; i++) write(out, "y".repeat(1024));
        };

        assertThat(sent(Duration.ofSeconds(10)).verdict()).isEqualTo(Verdict.FAILED);
    }

    @Test
    void too_many_headers_are_a_failure() throws Exception {
        receiver.script = out -> write(out, "HTTP/1.1 200 OK\r\n" + "a: b\r\n".repeat(5000) + "\r\n");

        assertThat(sent(Duration.ofSeconds(10)).verdict()).isEqualTo(Verdict.FAILED);
    }

    @Test
    void what_is_no_http_is_a_failure() throws Exception {
        receiver.script = out -> write(out, "SSH-2.0-OpenSSH_9.2\r\nsecret banner\r\n".repeat(100));

        Delivery delivery = sent(Duration.ofSeconds(2));

        assertThat(delivery.verdict()).isIn(Verdict.FAILED, Verdict.TIMED_OUT);
        assertThat(delivery.toText()).doesNotContain("banner");
    }

    @Test
    void an_answer_that_breaks_off_is_a_failure() throws Exception {
        receiver.script = out -> write(out, "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf");

        assertThat(sent(Duration.ofSeconds(10)).verdict()).isEqualTo(Verdict.FAILED);
    }

    @Test
    void a_closed_connection_is_a_failure() throws Exception {
        receiver.script = out -> {};

        assertThat(sent(Duration.ofSeconds(10)).verdict()).isEqualTo(Verdict.FAILED);
    }

    @Test
    void cookies_and_other_secrets_are_not_kept_and_text_is_cleaned() throws Exception {
        receiver.script = out -> write(
                out,
                "HTTP/1.1 200 OK\r\nSet-Cookie: sid=hidden\r\nX-Auth-Token: hidden\r\nWWW-Authenticate:"
                        + " hidden\r\nx-api-key: hidden\r\n"
                        + "X-Long: " + "v".repeat(5000) + "\r\nX-Seen: yes\r\n" + "a%d: b\r\n".repeat(3)
                        + "content-length: 8\r\n\r\na\u0000b\u0001c\u00ff\u001b\n");

        Delivery delivery = sent(Duration.ofSeconds(10));

        assertThat(delivery.headers()).containsEntry("x-seen", "yes").doesNotContainKey("set-cookie");
        assertThat(delivery.toText()).doesNotContain("hidden");
        assertThat(delivery.headers().get("x-long")).hasSizeLessThanOrEqualTo(200);
        assertThat(delivery.body()).isEqualTo("a\uFFFDb\uFFFDc\uFFFD\uFFFD\n");
    }

    @Test
    void an_upgrade_is_not_taken() throws Exception {
        receiver.script =
                out -> write(out, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n");

        assertThat(sent(Duration.ofSeconds(1)).verdict()).isIn(Verdict.FAILED, Verdict.TIMED_OUT);
    }

    private Delivery sent(Duration timeout) throws InterruptedException {
        return webhooks.test(
                "default",
                WebhookTarget.post("http://127.0.0.1:" + receiver.port() + "/")
                        .body("{}")
                        .timeouts(timeout, Duration.ofSeconds(1)));
    }

    private static void drip(OutputStream out, String start) throws Exception {
        write(out, start);
        while (true) {
            write(out, "z");
            Thread.sleep(20);
        }
    }

    private static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(ISO_8859_1));
        out.flush();
    }

    /** A receiver that runs a script after it has read the head of a request. */
    private static final class RawReceiver implements AutoCloseable {
        interface Script {
            void run(OutputStream out) throws Exception;
        }

        private final ServerSocket socket = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        private final Thread thread = new Thread(this::serve);
        private volatile Script script = out -> {};
        private volatile String request = "";

        RawReceiver() throws IOException {
            thread.setDaemon(true);
            thread.start();
        }

        int port() {
            return socket.getLocalPort();
        }

        private void serve() {
            while (!socket.isClosed()) {
                try (Socket next = socket.accept()) {
                    InputStream in = next.getInputStream();
                    byte[] bytes = new byte[64 * 1024];
                    int length = in.read(bytes);
                    request = new String(bytes, 0, Math.max(0, length), ISO_8859_1);
                    script.run(next.getOutputStream());
                } catch (Exception gone) {
                    // The sender closed the connection, as expected, or the test has ended.
                }
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
            thread.interrupt();
        }
    }
}
