package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.jca.JCAContext;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.SignedJWT;
import java.math.BigInteger;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** ES256 signatures whose numbers are out of range are refused, also on a Java version that accepts them. */
class EcdsaRangeTest {
    private static final BigInteger ORDER = Curve.P_256.toECParameterSpec().getOrder();

    /** Accepts every signature, as Java 17.0.0 to 17.0.2 accepts zeros. */
    private static final class FaultyVerifier implements JWSVerifier {
        private final JCAContext context = new JCAContext();

        @Override
        public boolean verify(JWSHeader header, byte[] input, Base64URL signature) {
            return true;
        }

        @Override
        public Set<JWSAlgorithm> supportedJWSAlgorithms() {
            return Set.of(JWSAlgorithm.ES256);
        }

        @Override
        public JCAContext getJCAContext() {
            return context;
        }
    }

    @Test
    void zeros_and_numbers_beyond_the_order_of_the_curve_are_refused() throws Exception {
        BigInteger one = BigInteger.ONE;
        for (BigInteger wrong : List.of(BigInteger.ZERO, ORDER, ORDER.add(one))) {
            assertThat(verifies(wrong, wrong)).as("%s twice", wrong).isFalse();
            assertThat(verifies(wrong, one)).as("r = %s", wrong).isFalse();
            assertThat(verifies(one, wrong)).as("s = %s", wrong).isFalse();
        }
        assertThat(verifies(one, ORDER.subtract(one))).isTrue();
    }

    private static boolean verifies(BigInteger r, BigInteger s) throws Exception {
        byte[] signature = new byte[64];
        write(r, signature, 0);
        write(s, signature, 32);
        String token = TestIssuer.input("{\"alg\":\"ES256\"}", TestIssuer.claims()) + "."
                + Base64.getUrlEncoder().withoutPadding().encodeToString(signature);
        return new VerificationKey(JWSAlgorithm.ES256, new FaultyVerifier()).verifies(SignedJWT.parse(token));
    }

    private static void write(BigInteger number, byte[] target, int offset) {
        byte[] bytes = number.toByteArray();
        int length = Math.min(bytes.length, 32);
        System.arraycopy(bytes, bytes.length - length, target, offset + 32 - length, length);
    }
}
