package io.carillon.webhook.sign;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SigningSecretTest {
    /** The example of the Standard Webhooks specification. */
    @Test
    void signs_as_the_specification_shows() {
        SigningSecret secret = SigningSecret.parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");

        String signature = SigningSecret.signatures(
                List.of(secret), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, "{\"test\": 2432232314}".getBytes(UTF_8));

        assertThat(signature).isEqualTo("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    @Test
    void two_secrets_give_two_signatures() {
        SigningSecret one = SigningSecret.generate();
        SigningSecret other = SigningSecret.generate();

        assertThat(SigningSecret.signatures(List.of(one, other), "m", 1, new byte[0])
                        .split(" "))
                .containsExactly(one.sign("m", 1, new byte[0]), other.sign("m", 1, new byte[0]))
                .doesNotHaveDuplicates();
    }

    @Test
    void its_text_form_reads_back_and_nothing_else_shows_it() {
        SigningSecret secret = SigningSecret.generate();

        assertThat(SigningSecret.parse(secret.reveal()).reveal()).isEqualTo(secret.reveal());
        assertThat(secret).hasToString("SigningSecret[hidden]");
    }

    /** The first test vector of RFC 8032. */
    @Test
    void the_public_key_belongs_to_the_private_key() {
        String seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        String publicKey = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        SigningSecret secret = SigningSecret.parse("whsk_" + base64(seed));

        assertThat(secret.publicKey()).contains("whpk_" + base64(publicKey));
        assertThat(SigningSecret.parse("whsk_" + base64(seed + publicKey)).reveal())
                .isEqualTo(secret.reveal());
        assertThatThrownBy(() -> SigningSecret.parse("whsk_" + base64(seed + seed)))
                .isInstanceOf(CarillonException.class);
    }

    @Test
    void an_ed25519_secret_signs_for_its_public_key() throws Exception {
        SigningSecret secret = SigningSecret.generateEd25519();
        byte[] body = "{}".getBytes(UTF_8);

        String signature = secret.sign("m", 1, body);

        assertThat(signature).startsWith("v1a,");
        assertThat(isValid(secret, signature, "m.1.{}")).isTrue();
        assertThat(isValid(secret, signature, "m.1.{ }")).isFalse();
        assertThat(isValid(SigningSecret.generateEd25519(), signature, "m.1.{}"))
                .isFalse();
    }

    @Test
    void secrets_of_both_kinds_sign_side_by_side() {
        SigningSecret hmac = SigningSecret.generate();
        SigningSecret ed25519 = SigningSecret.generateEd25519();

        assertThat(SigningSecret.signatures(List.of(ed25519, hmac), "m", 1, new byte[0])
                        .split(" "))
                .satisfiesExactly(
                        first -> assertThat(first).startsWith("v1a,"),
                        second -> assertThat(second).startsWith("v1,"));
        assertThat(hmac.publicKey()).isEmpty();
        assertThat(List.of(hmac.reveal(), ed25519.reveal())).allMatch(SigningSecret::hasPrefix);
        assertThat(SigningSecret.hasPrefix(ed25519.publicKey().orElseThrow())).isFalse();
    }

    @Test
    void an_ed25519_secret_reads_back_and_nothing_else_shows_it() {
        SigningSecret secret = SigningSecret.generateEd25519();

        assertThat(SigningSecret.parse(secret.reveal()).publicKey()).isEqualTo(secret.publicKey());
        assertThat(secret.publicKey().orElseThrow())
                .doesNotContain(secret.reveal().substring(5));
        assertThat(secret).hasToString("SigningSecret[hidden]");
    }

    @Test
    void an_id_with_a_dot_is_refused() {
        SigningSecret secret = SigningSecret.generate();

        assertThatThrownBy(() -> secret.sign("a.1", 1, new byte[0])).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "whsec_", "whsec_c2hvcnQ=", "whsec_***", "plain words", "whsk_", "whsk_***", "whsk_c2hvcnQ="
            })
    void what_is_no_secret_is_refused_without_repeating_it(String text) {
        assertThatThrownBy(() -> SigningSecret.parse(text))
                .isInstanceOf(CarillonException.class)
                .hasMessageStartingWith("A signing secret must be whsec_ followed by 24 to 64 bytes in Base64.");
    }

    private static String base64(String hex) {
        return Base64.getEncoder().encodeToString(HexFormat.of().parseHex(hex));
    }

    /** Verifies with the JDK, from the public key in its text form. */
    private static boolean isValid(SigningSecret secret, String signature, String message) throws Exception {
        byte[] key = Base64.getDecoder().decode(secret.publicKey().orElseThrow().substring("whpk_".length()));
        byte[] header = HexFormat.of().parseHex("302a300506032b6570032100");
        byte[] encoded = Arrays.copyOf(header, header.length + key.length);
        System.arraycopy(key, 0, encoded, header.length, key.length);
        Signature verification = Signature.getInstance("Ed25519");
        verification.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded)));
        verification.update(message.getBytes(UTF_8));
        return verification.verify(Base64.getDecoder().decode(signature.substring("v1a,".length())));
    }
}
