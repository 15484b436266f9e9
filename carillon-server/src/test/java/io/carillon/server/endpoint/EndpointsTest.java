package io.carillon.server.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import io.carillon.server.RestTestServer;
import io.carillon.server.WebhookReceiver;
import io.carillon.webhook.sign.SigningSecret;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Endpoints over REST: created, read, changed and called, with secrets that are shown once and rotated. */
class EndpointsTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    private static String key;

    /** Has a port of its own in each test: a host that failed in one test must not be paused in the next. */
    private WebhookReceiver receiver;

    @BeforeAll
    static void createProject() {
        key = SERVER.createProject("ends");
    }

    @BeforeEach
    void listen() throws Exception {
        receiver = new WebhookReceiver();
    }

    @AfterEach
    void stop() {
        receiver.close();
    }

    private RestTestServer.Reply create(String name, String path, String more) {
        return SERVER.post(
                key, "/v1/endpoints", "{\"name\":\"%s\",\"url\":\"%s\"%s}".formatted(name, receiver.url(path), more));
    }

    private WebhookReceiver.ReceivedRequest deliver(String endpoint, String path) {
        assertThat(SERVER.post(key, "/v1/webhooks/test", "{\"target\":{\"endpoint\":\"" + endpoint + "\"}}")
                        .requireStatus(200)
                        .at("/verdict"))
                .isEqualTo("delivered");
        List<WebhookReceiver.ReceivedRequest> got = receiver.received(path);
        return got.get(got.size() - 1);
    }

    private static void verify(String secret, WebhookReceiver.ReceivedRequest received) throws Exception {
        Map<String, List<String>> headers = received.headers().entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, one -> List.of(one.getValue())));
        new Webhook(secret).verify(received.body(), HttpHeaders.of(headers, (name, value) -> true));
    }

    @Test
    void an_endpoint_is_created_read_back_changed_and_called_by_runs_and_schedules() {
        RestTestServer.Reply made = create(
                        "full",
                        "/full?a=b",
                        ",\"method\":\"PUT\",\"headers\":{\"X-Team\":\"a\"},\"timeouts\":{\"total\":\"9s\"},"
                                + "\"success\":[200,204],\"callback\":\"1h\",\"limits\":{\"maxRunning\":3}")
                .requireStatus(201);
        assertThat(made.at("/queue")).isEqualTo("endpoint.full");
        assertThat(SERVER.get(key, "/v1/queues/endpoint.full").at("/maxRunning"))
                .isEqualTo("3");
        RestTestServer.Reply read = SERVER.get(key, "/v1/endpoints/full").requireStatus(200);
        assertThat(read.json()).isEqualTo(made.json());
        assertThat(read.at("/timeouts/total")).isEqualTo("PT9S");
        assertThat(read.at("/headers/x-team")).isEqualTo("a");
        assertThat(SERVER.get(key, "/v1/endpoints?limit=200").requireStatus(200).text())
                .contains("\"full\"");

        String run = SERVER.post(
                        key,
                        "/v1/runs",
                        "{\"target\":{\"endpoint\":\"full\",\"headers\":{\"x-mine\":\"m\"}},\"payload\":{\"n\":1}}")
                .requireStatus(201)
                .at("/run");
        SERVER.put(
                        key,
                        "/v1/schedules/full",
                        "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":{\"endpoint\":\"full\",\"body\":\"hello\"}}")
                .requireStatus(201);
        SERVER.post(key, "/v1/schedules/full/trigger", null).requireStatus(201);
        SERVER.runDue();
        assertThat(receiver.received("/full?a=b"))
                .hasSize(2)
                .allMatch(one ->
                        one.method().equals("PUT") && one.header("x-team").equals("a"))
                .extracting(WebhookReceiver.ReceivedRequest::body)
                .containsExactlyInAnyOrder("{\"n\":1}", "hello");
        RestTestServer.Reply ended = SERVER.get(key, "/v1/runs/" + run).requireStatus(200);
        assertThat(ended.at("/state")).isEqualTo("succeeded");
        assertThat(ended.at("/queue")).isEqualTo("endpoint.full");
        assertThat(ended.at("/target/endpoint")).isEqualTo("full");
        assertThat(ended.at("/delivery/url")).isEqualTo(receiver.url("/full"));

        // Writing the schedule that was read changes nothing, although it contains the queue.
        RestTestServer.Reply schedule = SERVER.get(key, "/v1/schedules/full");
        assertThat(SERVER.put(
                                key,
                                "/v1/schedules/full",
                                "{\"when\":{\"cron\":\"0 2 * * *\"},\"queue\":\"endpoint.full\",\"target\":"
                                        + schedule.json().path("target") + "}")
                        .requireStatus(200)
                        .at("/version"))
                .isEqualTo(schedule.at("/version"));
    }

    @Test
    void a_change_takes_effect_at_the_next_attempt_and_needs_the_current_version() {
        create("moving", "/503", "").requireStatus(201);
        SERVER.post(key, "/v1/runs", "{\"target\":{\"endpoint\":\"moving\"}}").requireStatus(201);
        String update = "{\"url\":\"" + receiver.url("/later") + "\"}";
        assertThat(SERVER.send(key, "PUT", "/v1/endpoints/moving", update, "If-Match", "\"7\"")
                        .requireStatus(412)
                        .code())
                .isEqualTo("precondition-failed");
        RestTestServer.Reply changed = SERVER.send(key, "PUT", "/v1/endpoints/moving", update, "If-Match", "\"1\"")
                .requireStatus(200);
        assertThat(changed.at("/version")).isEqualTo("2");
        SERVER.runDue();

        assertThat(receiver.received("/later")).hasSize(1);
        assertThat(receiver.received("/503")).isEmpty();
        SERVER.put(key, "/v1/endpoints/unknown", update).requireStatus(404);
        SERVER.send(key, "DELETE", "/v1/endpoints/moving", null, "If-Match", "\"1\"")
                .requireStatus(412);
    }

    @Test
    void a_generated_secret_is_shown_once_stored_encrypted_and_signs() throws Exception {
        RestTestServer.Reply made = create("signed", "/signed", ",\"secrets\":[{\"name\":\"main\"}]")
                .requireStatus(201);
        String secret = made.at("/secrets/0/value");

        assertThat(secret).startsWith("whsec_");
        RestTestServer.Reply read = SERVER.get(key, "/v1/endpoints/signed").requireStatus(200);
        assertThat(read.at("/secrets/0/kind")).isEqualTo("signing");
        String all = read.text()
                + SERVER.get(key, "/v1/endpoints?limit=200").requireStatus(200).text()
                + SERVER.get(key, "/v1/audit").requireStatus(200).text()
                + SERVER.query("SELECT string_agg(t::text, '') FROM carillon.endpoint_secret t")
                        .text();
        assertThat(all).contains("signed").doesNotContain(secret, secret.substring(6));
        verify(secret, deliver("signed", "/signed"));
        assertThat(create("signed", "/signed", "").requireStatus(409).code()).isEqualTo("endpoint-exists");
        for (String path : List.of("/v1/endpoints", "/v1/endpoints/signed/rotate"))
            SERVER.send(key, "POST", path, "{}", "Idempotency-Key", "k").requireStatus(400);
        SERVER.send(key, "PUT", "/v1/endpoints/signed", "{}", "Idempotency-Key", "k")
                .requireStatus(400);
    }

    @Test
    void an_ed25519_secret_is_generated_and_only_its_public_key_is_shown() {
        RestTestServer.Reply made = create(
                        "keypair", "/keypair", ",\"secrets\":[{\"name\":\"main\",\"algorithm\":\"ed25519\"}]")
                .requireStatus(201);
        String publicKey = made.at("/secrets/0/publicKey");
        assertThat(publicKey).startsWith("whpk_");
        assertThat(made.at("/secrets/0/algorithm")).isEqualTo("ed25519");
        assertThat(made.json().at("/secrets/0").has("value")).isFalse();
        assertThat(SERVER.get(key, "/v1/endpoints/keypair").at("/secrets/0/publicKey"))
                .isEqualTo(publicKey);
        assertThat(SERVER.get(key, "/v1/endpoints?limit=200").text()).contains(publicKey);
        assertThat(isSignedBy(publicKey, deliver("keypair", "/keypair"))).isTrue();

        // Rotation keeps the algorithm; both keys sign during the overlap.
        RestTestServer.Reply rotated = SERVER.post(key, "/v1/endpoints/keypair/rotate", "{\"overlap\":\"1h\"}")
                .requireStatus(201);
        String fresh = rotated.at("/secrets/0/publicKey");
        assertThat(fresh).startsWith("whpk_").isNotEqualTo(publicKey);
        assertThat(rotated.text()).doesNotContain("whsk_", "whsec_");
        WebhookReceiver.ReceivedRequest during = deliver("keypair", "/keypair");
        assertThat(isSignedBy(publicKey, during)).isTrue();
        assertThat(isSignedBy(fresh, during)).isTrue();

        // An update that names the same algorithm keeps the secret; another one must be rotated to.
        String update = "{\"url\":\"%s\",\"secrets\":[{\"name\":\"main\",\"algorithm\":\"%s\"}]}";
        String url = receiver.url("/keypair");
        assertThat(SERVER.put(key, "/v1/endpoints/keypair", update.formatted(url, "ed25519"))
                        .requireStatus(200)
                        .at("/secrets/0/publicKey"))
                .isEqualTo(fresh);
        assertThat(SERVER.put(key, "/v1/endpoints/keypair", update.formatted(url, "hmac-sha256"))
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/secrets/0/algorithm");
        RestTestServer.Reply shared = SERVER.post(
                        key, "/v1/endpoints/keypair/rotate", "{\"algorithm\":\"hmac-sha256\",\"overlap\":\"0s\"}")
                .requireStatus(201);
        assertThat(shared.at("/secrets/0/value")).startsWith("whsec_");
        assertThat(shared.at("/secrets/0/algorithm")).isEqualTo("hmac-sha256");
        assertThat(shared.json().at("/secrets/0").has("publicKey")).isFalse();
    }

    @Test
    void a_given_ed25519_secret_shows_its_public_key() {
        SigningSecret secret = SigningSecret.generateEd25519();
        String publicKey = secret.publicKey().orElseThrow();
        RestTestServer.Reply made = create(
                        "given", "/given", ",\"secrets\":[{\"name\":\"main\",\"value\":\"" + secret.reveal() + "\"}]")
                .requireStatus(201);

        assertThat(made.at("/secrets/0/publicKey")).isEqualTo(publicKey);
        assertThat(made.text()).doesNotContain("whsk_");
        assertThat(isSignedBy(publicKey, deliver("given", "/given"))).isTrue();
        String other = SigningSecret.generateEd25519().reveal();
        assertThat(SERVER.post(
                                key,
                                "/v1/endpoints/given/rotate",
                                "{\"value\":\"" + other + "\",\"algorithm\":\"hmac-sha256\"}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/algorithm");
        SERVER.post(key, "/v1/endpoints/given/rotate", "{\"value\":\"" + other + "\",\"algorithm\":\"ed25519\"}")
                .requireStatus(201);
    }

    private static boolean isSignedBy(String publicKey, WebhookReceiver.ReceivedRequest received) {
        byte[] message = "%s.%s.%s"
                .formatted(received.header("webhook-id"), received.header("webhook-timestamp"), received.body())
                .getBytes(StandardCharsets.UTF_8);
        byte[] header = HexFormat.of().parseHex("302a300506032b6570032100");
        byte[] key = Base64.getDecoder().decode(publicKey.substring("whpk_".length()));
        byte[] encoded = Arrays.copyOf(header, header.length + key.length);
        System.arraycopy(key, 0, encoded, header.length, key.length);
        return Arrays.stream(received.header("webhook-signature").split(" "))
                .filter(one -> one.startsWith("v1a,"))
                .anyMatch(one -> isValid(encoded, message, Base64.getDecoder().decode(one.substring(4))));
    }

    private static boolean isValid(byte[] encodedKey, byte[] message, byte[] signature) {
        try {
            Signature verification = Signature.getInstance("Ed25519");
            verification.initVerify(
                    KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encodedKey)));
            verification.update(message);
            return verification.verify(signature);
        } catch (GeneralSecurityException broken) {
            throw new AssertionError(broken);
        }
    }

    @Test
    void the_headers_of_an_endpoint_have_a_maximum_size() {
        String header = "\"x-%d\":\"" + "v".repeat(2_000) + "\"";
        String four = IntStream.range(0, 4).mapToObj(header::formatted).collect(Collectors.joining(","));
        create("large", "/large", ",\"headers\":{" + four + "}").requireStatus(201);

        assertThat(create("larger", "/large", ",\"headers\":{" + four + "," + header.formatted(4) + "}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/headers");
    }

    @Test
    void both_signing_secrets_verify_while_one_is_rotated() {
        String old = create("turning", "/turning", ",\"secrets\":[{\"name\":\"main\"}]")
                .requireStatus(201)
                .at("/secrets/0/value");
        RestTestServer.Reply rotated = SERVER.post(key, "/v1/endpoints/turning/rotate", "{\"overlap\":\"1h\"}")
                .requireStatus(201);
        String fresh = rotated.at("/secrets/0/value");
        assertThat(fresh).startsWith("whsec_").isNotEqualTo(old);
        assertThat(rotated.at("/secrets/0/previousUntil")).isNotEmpty();
        assertThat(rotated.at("/version")).isEqualTo("2");
        WebhookReceiver.ReceivedRequest during = deliver("turning", "/turning");
        assertThatCode(() -> verify(old, during)).doesNotThrowAnyException();
        assertThatCode(() -> verify(fresh, during)).doesNotThrowAnyException();

        SERVER.post(key, "/v1/endpoints/turning/rotate", "{\"overlap\":\"0s\"}").requireStatus(201);
        WebhookReceiver.ReceivedRequest after = deliver("turning", "/turning");
        assertThatThrownBy(() -> verify(old, after)).isInstanceOf(WebhookVerificationException.class);
        assertThatThrownBy(() -> verify(fresh, after)).isInstanceOf(WebhookVerificationException.class);
    }

    @Test
    void a_header_secret_is_sent_and_shown_nowhere() {
        RestTestServer.Reply made = create(
                        "token",
                        "/authorized",
                        ",\"secrets\":[{\"name\":\"auth\",\"header\":\"Authorization\",\"value\":\"Bearer t0ps3cret\"},"
                                + "{\"name\":\"main\"}]")
                .requireStatus(201);
        assertThat(made.text()).doesNotContain("t0ps3cret");
        assertThat(made.at("/secrets/0/header")).isEqualTo("authorization");
        String run = SERVER.post(key, "/v1/runs", "{\"target\":{\"endpoint\":\"token\"}}")
                .requireStatus(201)
                .at("/run");
        SERVER.runDue();
        assertThat(receiver.received("/authorized").get(0).header("authorization"))
                .isEqualTo("Bearer t0ps3cret");
        assertThat(SERVER.get(key, "/v1/runs/" + run).requireStatus(200).text()
                        + SERVER.query("SELECT string_agg(convert_from(payload, 'UTF8'), '') FROM carillon.run_history")
                                .text())
                .contains("token")
                .doesNotContain("t0ps3cret");

        assertThat(SERVER.post(key, "/v1/endpoints/token/rotate", null)
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/secret");
        assertThat(SERVER.post(key, "/v1/endpoints/token/rotate", "{\"secret\":\"auth\"}")
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/value");
        SERVER.post(key, "/v1/endpoints/token/rotate", "{\"secret\":\"auth\",\"value\":\"Bearer 2\"}")
                .requireStatus(201);
        assertThat(deliver("token", "/authorized").header("authorization")).isEqualTo("Bearer 2");
    }

    @Test
    void an_update_keeps_adds_and_removes_secrets() {
        create(
                        "keeping",
                        "/keeping",
                        ",\"secrets\":[{\"name\":\"a\"},{\"name\":\"b\",\"header\":\"x-b\",\"value\":\"v\"}]")
                .requireStatus(201);
        String update = "{\"url\":\"%s\"%s}";
        String url = receiver.url("/keeping");
        SERVER.put(key, "/v1/endpoints/keeping", update.formatted(url, "")).requireStatus(200);
        assertThat(deliver("keeping", "/keeping").header("x-b")).isEqualTo("v");

        RestTestServer.Reply changed = SERVER.put(
                        key,
                        "/v1/endpoints/keeping",
                        update.formatted(url, ",\"secrets\":[{\"name\":\"b\",\"header\":\"x-b\"},{\"name\":\"c\"}]"))
                .requireStatus(200);
        assertThat(changed.at("/secrets/0/name")).isEqualTo("b");
        assertThat(changed.at("/secrets/1/name")).isEqualTo("c");
        assertThat(changed.at("/secrets/1/value")).startsWith("whsec_");
        assertThat(changed.json().path("secrets").size()).isEqualTo(2);
        assertThat(deliver("keeping", "/keeping").header("x-b")).isEqualTo("v");
        // A value does not change its purpose without being given again.
        assertThat(SERVER.put(
                                key,
                                "/v1/endpoints/keeping",
                                update.formatted(url, ",\"secrets\":[{\"name\":\"c\",\"header\":\"x-c\"}]"))
                        .requireStatus(422)
                        .at("/errors/0/pointer"))
                .isEqualTo("/secrets/0/value");
        SERVER.put(key, "/v1/endpoints/keeping", update.formatted(url, ",\"secrets\":[]"))
                .requireStatus(200);
        assertThat(deliver("keeping", "/keeping").headers()).doesNotContainKeys("x-b", "webhook-signature");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'\"url\":\"ftp://a.example\"' | /url",
                "'\"method\":\"TRACE\"' | /method",
                "'\"headers\":{\"Authorization\":\"Bearer s3cret\"}' | /headers",
                "'\"body\":\"b\"' | /body",
                "'\"limits\":{\"maxRunning\":0}' | /limits",
                "'\"secrets\":[{\"name\":\"No Name\"}]' | /secrets/0/name",
                "'\"secrets\":[{\"name\":\"a\",\"header\":\"host\",\"value\":\"s3cret\"}]' | /secrets/0/header",
                "'\"secrets\":[{\"name\":\"a\",\"header\":\"x-a\"}]' | /secrets/0/value",
                "'\"secrets\":[{\"name\":\"a\",\"value\":\"s3cret\"}]' | /secrets/0/value",
                "'\"secrets\":[{\"name\":\"a\",\"header\":\"x-a\",\"value\":\"s3cret\\r\\nb: c\"}]' | /secrets/0/value",
                "'\"secrets\":[{\"name\":\"a\",\"header\":\"x-a\",\"value\":\"whsec_s3cret\"}]' | /secrets/0/value",
                "'\"secrets\":[{\"name\":\"a\"},{\"name\":\"a\"}]' | /secrets",
                "'\"secrets\":[{\"name\":\"a\",\"algorithm\":\"rsa\"}]' | /secrets/0/algorithm",
                "'\"secrets\":[{\"name\":\"a\",\"header\":\"x\",\"value\":\"v\",\"algorithm\":\"ed25519\"}]'"
                        + " | /secrets/0/algorithm",
                "'\"headers\":{\"x\":\"b\"},\"secrets\":[{\"name\":\"a\",\"header\":\"X\",\"value\":\"v\"}]' | /secrets"
            })
    void invalid_endpoints_are_refused_with_a_pointer(String field, String pointer) {
        String url = field.startsWith("\"url\"") ? "" : "\"url\":\"https://a.example/\",";
        RestTestServer.Reply reply = SERVER.post(key, "/v1/endpoints", "{\"name\":\"refused\"," + url + field + "}")
                .requireStatus(422);
        assertThat(reply.at("/errors/0/pointer")).isEqualTo(pointer);
        assertThat(reply.text()).doesNotContain("s3cret");
        SERVER.get(key, "/v1/endpoints/refused").requireStatus(404);
    }

    @Test
    void a_name_is_short_enough_for_the_name_of_its_queue() {
        create("a".repeat(91), "/x", "").requireStatus(201);
        assertThat(create("a".repeat(92), "/x", "").requireStatus(422).at("/errors/0/pointer"))
                .isEqualTo("/name");
        SERVER.get(key, "/v1/endpoints/" + "a".repeat(92)).requireStatus(404);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'\"target\":{\"endpoint\":\"unknown\"}' | /target/endpoint",
                "'\"target\":{\"endpoint\":\"there\",\"method\":\"PUT\"}' | /target/method",
                "'\"target\":{\"endpoint\":\"there\",\"headers\":{\"x-team\":\"b\"}}' | /target/headers",
                "'\"target\":{\"endpoint\":\"there\"},\"queue\":\"mine\"' | /queue",
                "'\"target\":{\"url\":\"https://a.example/\"},\"queue\":\"endpoint.there\"' | /queue",
                "'\"target\":{\"handler\":\"a\"},\"queue\":\"endpoint.there\"' | /queue",
                "'\"target\":{\"handler\":\"endpoint.there\"}' | /target/handler"
            })
    void invalid_uses_of_an_endpoint_are_refused_with_a_pointer(String fields, String pointer) {
        if (SERVER.get(key, "/v1/endpoints/there").status() == 404)
            create("there", "/there", ",\"headers\":{\"x-team\":\"a\"}").requireStatus(201);
        for (RestTestServer.Reply reply : List.of(
                SERVER.post(key, "/v1/runs", "{" + fields + "}"),
                SERVER.post(key, "/v1/runs:batch", "{" + fields + ",\"runs\":[{}]}"),
                SERVER.put(key, "/v1/schedules/refused", "{\"when\":{\"cron\":\"0 2 * * *\"}," + fields + "}")))
            assertThat(reply.requireStatus(422).at("/errors/0/pointer")).isEqualTo(pointer);
    }

    @Test
    void a_project_may_forbid_urls_that_are_not_endpoints() {
        String strict = SERVER.createProject("strict");
        String url = "{\"url\":\"" + receiver.url("/adhoc") + "\"}";
        String before = SERVER.post(strict, "/v1/runs", "{\"target\":" + url + "}")
                .requireStatus(201)
                .at("/run");
        SERVER.put(SERVER.createKeyAs(strict, "manage"), "/v1/projects/strict/settings", "{\"allowAdHocUrls\":false}")
                .requireStatus(403);
        assertThat(SERVER.put(strict, "/v1/projects/strict/settings", "{\"allowAdHocUrls\":false}")
                        .requireStatus(200)
                        .at("/allowAdHocUrls"))
                .isEqualTo("false");
        for (RestTestServer.Reply reply : List.of(
                SERVER.post(strict, "/v1/runs", "{\"target\":" + url + "}"),
                SERVER.put(strict, "/v1/schedules/x", "{\"when\":{\"cron\":\"0 2 * * *\"},\"target\":" + url + "}"),
                SERVER.post(strict, "/v1/webhooks/test", "{\"target\":" + url + "}")))
            assertThat(reply.requireStatus(422).at("/errors/0/pointer")).isEqualTo("/target/url");
        SERVER.runDue();
        assertThat(SERVER.get(strict, "/v1/runs/" + before + "/attempts").at("/items/0/delivery/verdict"))
                .isEqualTo("not-sendable");
        assertThat(SERVER.post(strict, "/v1/runs/" + before + "/replay", null)
                        .requireStatus(200)
                        .at("/verdict"))
                .isEqualTo("not-sendable");
        assertThat(receiver.received("/adhoc")).isEmpty();
    }
}
