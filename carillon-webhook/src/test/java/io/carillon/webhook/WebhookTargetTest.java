package io.carillon.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import io.carillon.internal.json.JsonCodec;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WebhookTargetTest {
    private static final JsonCodec JSON = new JsonCodec();

    @Test
    void only_the_url_is_required_in_json() {
        assertThat(read("{\"url\":\"https://hooks.example/x\"}"))
                .isEqualTo(WebhookTarget.post("https://hooks.example/x"));
    }

    @Test
    void its_json_form_is_the_documented_one_and_reads_back() {
        WebhookTarget target = WebhookTarget.post("https://hooks.example/x?y=1")
                .method("put")
                .header("X-Team", "billing")
                .body("{\"a\": 1.10}")
                .timeouts(Duration.ofSeconds(30), Duration.ofSeconds(3))
                .success(200, 204)
                .callback(Duration.ofHours(1));
        String json = new String(JSON.encode(target), UTF_8);

        assertThat(json)
                .isEqualTo("{\"endpoint\":null,\"url\":\"https://hooks.example/x?y=1\",\"method\":\"PUT\","
                        + "\"headers\":{\"x-team\":\"billing\"},"
                        + "\"body\":\"{\\\"a\\\": 1.10}\","
                        + "\"timeouts\":{\"total\":\"PT30S\",\"connect\":\"PT3S\"},\"success\":[200,204],"
                        + "\"callback\":\"PT1H\",\"event\":null}");
        assertThat(read(json)).isEqualTo(target);
        assertThat(read("{\"url\":\"https://hooks.example\",\"timeouts\":{\"total\":\"PT1S\"}}")
                        .timeouts())
                .isEqualTo(new WebhookTarget.Timeouts(Duration.ofSeconds(1), Duration.ofSeconds(5)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Host",
                "content-length",
                "Transfer-Encoding",
                "connection",
                "upgrade",
                "expect",
                "accept-encoding",
                "webhook-id",
                "Webhook-Signature",
                "carillon-run",
                "proxy-authorization",
                "",
                "a b",
                "a:b",
                "a\r\nb",
                "\u00FC"
            })
    void headers_of_the_sender_and_what_is_no_name_are_refused(String name) {
        assertThatThrownBy(() -> WebhookTarget.post("https://hooks.example").header(name, "x"))
                .isInstanceOf(CarillonException.class)
                .hasMessageStartingWith("Invalid webhook headers: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\r\nx: y", "a\nb", "a\u0000b", "gr\u00FC\u00DFe", " a", "a ", "\u007F"})
    void values_that_could_split_a_request_are_refused_and_not_repeated(String value) {
        assertThatThrownBy(() -> WebhookTarget.post("https://hooks.example").header("x", value))
                .isInstanceOf(CarillonException.class)
                .hasMessage("Invalid webhook headers: the value of \"x\" must have between 1 and 2000 printable ASCII "
                        + "characters.");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"url\":null}",
                "{\"url\":\"ftp://x\"}",
                "{\"url\":\"https://hooks.example\",\"method\":\"CONNECT\"}",
                "{\"url\":\"https://hooks.example\",\"method\":\"TRACE\"}",
                "{\"url\":\"https://hooks.example\",\"endpoint\":\"orders\"}",
                "{\"endpoint\":\"No Name\"}",
                "{\"endpoint\":\"orders\",\"method\":\"PUT\"}",
                "{\"endpoint\":\"orders\",\"success\":[200]}",
                "{\"endpoint\":\"orders\",\"callback\":\"PT1H\",\"event\":null}",
                "{\"endpoint\":\"orders\",\"timeouts\":{\"total\":\"PT1S\"}}",
                "{\"url\":\"https://hooks.example\",\"headers\":{\"x\":null}}",
                "{\"url\":\"https://hooks.example\",\"timeouts\":{\"total\":\"PT61S\"}}",
                "{\"url\":\"https://hooks.example\",\"timeouts\":{\"total\":\"-PT1S\"}}",
                "{\"url\":\"https://hooks.example\",\"callback\":\"PT0S\"}",
                "{\"url\":\"https://hooks.example\",\"callback\":\"P31D\"}",
                "{\"url\":\"https://hooks.example\",\"success\":[100]}",
                "{\"url\":\"https://hooks.example\",\"success\":[null]}"
            })
    void what_cannot_be_sent_is_refused_when_it_is_read(String json) {
        assertThatThrownBy(() -> read(json)).isInstanceOf(CarillonException.class);
    }

    @Test
    void a_message_names_an_endpoint_and_has_headers_and_a_body() {
        WebhookTarget target =
                WebhookTarget.to("orders").header("X-Team", "billing").body("{}");

        assertThat(read(new String(JSON.encode(target), UTF_8))).isEqualTo(target);
        assertThat(read("{\"endpoint\":\"orders\"}")).isEqualTo(WebhookTarget.to("orders"));
        assertThat(target).hasToString("WebhookTarget[endpoint orders]");
        assertThatThrownBy(() -> target.method("PUT"))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("set on the endpoint");
        assertThatThrownBy(() -> WebhookTarget.to("a".repeat(92)))
                .isInstanceOf(CarillonException.class)
                .hasMessageContaining("at most 91 characters (was 92)");
    }

    @Test
    void it_shows_neither_path_nor_headers_nor_body() {
        WebhookTarget target = WebhookTarget.post("https://hooks.example/s3cr3t?token=s3cr3t")
                .header("x", "s3cr3t")
                .body("s3cr3t");

        assertThat(target).hasToString("WebhookTarget[POST https://hooks.example:443]");
    }

    @Test
    void a_delivery_reads_back_from_the_log_it_was_written_to() {
        Delivery delivery =
                new Delivery(Verdict.FAILED, 500, Map.of("x", "y"), "\"".repeat(4096), "status 500", 12, null, null);
        String log = "something else\nwebhook {broken\n" + "webhook " + delivery.toText() + "\n";

        assertThat(delivery.toText().length()).isLessThan(8 * 1024);
        assertThat(Delivery.parse(delivery.toText())).isEqualTo(Delivery.parse(log));
        assertThat(Delivery.parse(log)).hasValueSatisfying(read -> {
            assertThat(read.status()).isEqualTo(500);
            assertThat(read.body()).startsWith("\"\"\"").hasSizeGreaterThan(1000);
        });
        assertThat(Delivery.parse("nothing of ours")).isEmpty();
        assertThat(Delivery.parse(null)).isEmpty();
    }

    private static WebhookTarget read(String json) {
        return JSON.decode(json.getBytes(UTF_8), WebhookTarget.class);
    }
}
