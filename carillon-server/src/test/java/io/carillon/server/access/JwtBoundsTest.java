package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.value.WallClock;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The library that parses tokens accepts more than Carillon does: these are the bounds that Carillon sets. */
class JwtBoundsTest {
    private static final String KEY_ID = ",\"kid\":\"" + TestIssuer.KEY_ID + "\"";
    private final JwtVerifier verifier = TestIssuer.verifier();

    @Test
    void a_token_without_a_signature_is_refused() {
        for (String algorithm : List.of("none", "None", "NONE", "")) {
            String header = "{\"alg\":\"%s\"%s}".formatted(algorithm, KEY_ID);
            assertRefused(TestIssuer.input(header, TestIssuer.claims()) + ".");
            assertRefused(TestIssuer.signed(header, TestIssuer.claims()));
        }
        assertRefused(TestIssuer.input("{\"alg\":\"RS256\"" + KEY_ID + "}", TestIssuer.claims()) + ".");
    }

    @Test
    void an_hmac_with_the_public_key_as_its_secret_is_refused() {
        byte[] der = TestIssuer.publicKey().getEncoded();
        String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        String pem = "-----BEGIN PUBLIC KEY-----\n" + base64 + "\n-----END PUBLIC KEY-----\n";
        for (byte[] secret : List.of(
                der,
                pem.getBytes(StandardCharsets.US_ASCII),
                TestIssuer.keySet("").getBytes(StandardCharsets.UTF_8),
                TestIssuer.publicKey().getModulus().toByteArray())) {
            assertRefused(TestIssuer.signedWithHmac("{\"alg\":\"HS256\"" + KEY_ID + "}", TestIssuer.claims(), secret));
            assertRefused(TestIssuer.signedWithHmac("{\"alg\":\"HS256\"}", TestIssuer.claims(), secret));
        }
    }

    @Test
    void another_algorithm_of_the_same_key_is_refused() {
        for (int bits : List.of(384, 512))
            assertRefused(TestIssuer.signed(
                    "{\"alg\":\"RS%d\"%s}".formatted(bits, KEY_ID),
                    TestIssuer.claims(),
                    "SHA%dwithRSA".formatted(bits)));
    }

    @Test
    void a_token_that_requires_an_extension_is_refused() {
        for (String critical : List.of(
                "\"crit\":[\"unknown\"],\"unknown\":1",
                "\"crit\":[\"b64\"],\"b64\":true",
                "\"crit\":[\"exp\"]",
                "\"crit\":[]",
                "\"crit\":\"unknown\"")) {
            String header = "{\"alg\":\"RS256\"" + KEY_ID + "," + critical + "}";
            assertRefused(TestIssuer.signed(header, TestIssuer.claims()));
        }
    }

    @Test
    void an_expired_token_is_accepted_for_one_more_minute() {
        long now = WallClock.millis() / 1000;
        assertAccepted(TestIssuer.signed(TestIssuer.claims(now - 40, "")));
        assertRefused(TestIssuer.signed(TestIssuer.claims(now - 61, "")));
    }

    @Test
    void a_token_without_an_expiry_is_refused() {
        String claims = TestIssuer.claims(4_000_000_000L, "");
        assertAccepted(TestIssuer.signed(claims));
        assertRefused(TestIssuer.signed(claims.replace("4000000000", "null")));
        assertRefused(TestIssuer.signed(claims.replace("\"exp\":4000000000", "\"unused\":1")));
    }

    @Test
    void a_token_is_accepted_at_most_one_minute_before_it_is_valid() {
        long now = WallClock.millis() / 1000;
        assertAccepted(TestIssuer.signed(TestIssuer.claims(now + 600, ",\"nbf\":" + (now + 59))));
        assertRefused(TestIssuer.signed(TestIssuer.claims(now + 600, ",\"nbf\":" + (now + 80))));
    }

    @Test
    void a_token_has_at_most_8_kib() {
        String small = TestIssuer.signed(TestIssuer.claims());
        String padding = ",\"more\":\"" + "x".repeat((8 * 1024 - small.length()) * 3 / 4 - 20) + "\"";
        assertAccepted(TestIssuer.signed(TestIssuer.claims(32_503_680_000L, padding)));
        assertRefused(TestIssuer.signed(
                TestIssuer.claims(32_503_680_000L, padding.replace("x\"", "x".repeat(60) + "\""))));
    }

    @Test
    void a_malformed_token_is_refused() {
        String good = TestIssuer.signed(TestIssuer.claims());
        assertAccepted(good);
        for (String changed : List.of(good + "!", good + " ", "!" + good, good.replace(".", ".*"), good + ".a", ""))
            assertRefused(changed);
        for (String header : List.of("null", "[]", "1", "{}", "{\"alg\":null}", "{\"alg\":1}", "{", "\"a\"", ""))
            assertRefused(TestIssuer.signed(header, TestIssuer.claims()));
        for (String claims : List.of("null", "[]", "1", "{}", "{", "", "{\"exp\":null}"))
            assertRefused(TestIssuer.signed(claims));
        assertRefused(TestIssuer.signed("[".repeat(2_000)));
        assertRefused(TestIssuer.signed("{\"a\":" + "[".repeat(2_000), TestIssuer.claims()));
    }

    private void assertAccepted(String token) {
        assertThat(verifier.verify(token)).as(token).isPresent();
    }

    private void assertRefused(String token) {
        assertThat(verifier.verify(token)).as(token).isEmpty();
    }
}
