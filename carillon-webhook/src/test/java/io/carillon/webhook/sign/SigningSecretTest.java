package io.carillon.webhook.sign;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.CarillonException;
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

    @Test
    void an_id_with_a_dot_is_refused() {
        SigningSecret secret = SigningSecret.generate();

        assertThatThrownBy(() -> secret.sign("a.1", 1, new byte[0])).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "whsec_", "whsec_c2hvcnQ=", "whsec_***", "plain words"})
    void what_is_no_secret_is_refused_without_repeating_it(String text) {
        assertThatThrownBy(() -> SigningSecret.parse(text))
                .isInstanceOf(CarillonException.class)
                .hasMessageStartingWith("A signing secret must be whsec_ followed by 24 to 64 bytes in Base64.");
    }
}
