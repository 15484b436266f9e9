package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.access.JwkSet;
import io.carillon.server.access.JwtVerifier;
import io.carillon.server.http.Caller;
import io.carillon.server.openapi.OpenApiDescription;
import io.carillon.server.openapi.SampleRequests;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A token of an identity provider grants what its claims say; an invalid token grants nothing. */
class JwtVerifierTest {
    private static final byte[] SECRET = "a secret of at least thirty-two bytes".getBytes(StandardCharsets.UTF_8);
    private static final String GOOD =
            "{\"iss\":\"https://id.example\",\"aud\":[\"other\",\"carillon\"],\"sub\":\"ann\",\"project\":\"default\","
                    + "\"scope\":\"openid read\",\"exp\":32503680000}";

    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer(
            builder -> builder,
            server -> server.tokenVerifier(JwtVerifier.withSharedSecret("https://id.example", "carillon", SECRET)));

    private static String encoded(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static String encoded(String text) {
        return encoded(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String shared(String header, String claims) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
            String signed = encoded(header) + "." + encoded(claims);
            return signed + "." + encoded(mac.doFinal(signed.getBytes(StandardCharsets.US_ASCII)));
        } catch (GeneralSecurityException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static String shared(String claims) {
        return shared("{\"alg\":\"HS256\"}", claims);
    }

    @Test
    void a_token_has_the_permissions_of_its_scopes() {
        String token = shared(GOOD);
        SERVER.get(token, "/v1/stats").requireStatus(200);
        SERVER.post(
                        token,
                        "/v1/runs",
                        SampleRequests.body(OpenApiDescription.instance()
                                .find("POST", "/v1/runs")
                                .orElseThrow()))
                .requireStatus(403);
        String manager = shared(GOOD.replace("openid read", "manage"));
        SERVER.post(manager, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                .requireStatus(201);
        assertThat(SERVER.query("SELECT actor FROM carillon.audit ORDER BY id DESC LIMIT 1")
                        .text())
                .isEqualTo("subject ann");
    }

    @Test
    void a_token_with_any_defect_is_refused() {
        for (String claims : List.of(
                GOOD.replace("id.example", "id.other"),
                GOOD.replace("\"carillon\"", "\"else\""),
                GOOD.replace("32503680000", "1000"),
                GOOD.replace(",\"exp\":32503680000", ""),
                GOOD.replace("\"exp\":32503680000", "\"exp\":32503680000,\"nbf\":32503680000"),
                GOOD.replace("\"project\":\"default\"", "\"project\":\"unknown\""),
                GOOD.replace("\"project\":\"default\",", ""),
                "[]"))
            assertThat(SERVER.get(shared(claims), "/v1/stats").status())
                    .as(claims)
                    .isEqualTo(401);
        String none = encoded("{\"alg\":\"none\"}") + "." + encoded(GOOD) + ".";
        String swapped = shared("{\"alg\":\"RS256\"}", GOOD);
        String good = shared(GOOD);
        String cut = good.substring(0, good.length() - 4);
        for (String token : List.of(none, swapped, cut, good + "x", "a.b.c", "..", "a.b"))
            assertThat(SERVER.get(token, "/v1/stats").status()).as(token).isEqualTo(401);
        assertThat(SERVER.query("SELECT count(*) FROM carillon.project WHERE project = 'unknown'")
                        .text())
                .isEqualTo("0");
    }

    @Test
    void a_token_signed_by_a_key_of_the_issuer_is_accepted() throws GeneralSecurityException {
        KeyPair rsa = pair("RSA");
        KeyPair ec = pair("EC");
        RSAPublicKey rsaPublic = (RSAPublicKey) rsa.getPublic();
        ECPublicKey ecPublic = (ECPublicKey) ec.getPublic();
        String document = ("{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"r\",\"n\":\"%s\",\"e\":\"%s\"},{\"kty\":\"EC\","
                        + "\"crv\":\"P-256\",\"kid\":\"e\",\"x\":\"%s\",\"y\":\"%s\"},{\"kty\":\"odd\"}]}")
                .formatted(
                        number(rsaPublic.getModulus()),
                        number(rsaPublic.getPublicExponent()),
                        number(ecPublic.getW().getAffineX()),
                        number(ecPublic.getW().getAffineY()));
        JwtVerifier tokens =
                JwtVerifier.withPublicKeys("https://id.example", "carillon", new JwkSet(() -> Optional.of(document)));

        assertThat(tokens.verify(signed(rsa, "RS256", "r", "SHA256withRSA")).map(Caller::actor))
                .contains("subject ann");
        assertThat(tokens.verify(signed(ec, "ES256", "e", "SHA256withECDSAinP1363Format")))
                .isPresent();
        assertThat(tokens.verify(signed(pair("RSA"), "RS256", "r", "SHA256withRSA")))
                .isEmpty();
        assertThat(tokens.verify(signed(rsa, "RS256", "unknown", "SHA256withRSA")))
                .isEmpty();
        assertThat(tokens.verify(signed(rsa, "ES256", "r", "SHA256withRSA"))).isEmpty();
        assertThat(tokens.verify(shared("{\"alg\":\"HS256\",\"kid\":\"r\"}", GOOD)))
                .isEmpty();
    }

    private static KeyPair pair(String kind) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(kind);
        if (kind.equals("RSA")) generator.initialize(2048);
        else generator.initialize(new ECGenParameterSpec("secp256r1"));
        return generator.generateKeyPair();
    }

    private static String number(BigInteger number) {
        return encoded(number.toByteArray());
    }

    private static String signed(KeyPair pair, String algorithm, String id, String how)
            throws GeneralSecurityException {
        String text = encoded("{\"alg\":\"%s\",\"kid\":\"%s\"}".formatted(algorithm, id)) + "." + encoded(GOOD);
        Signature signature = Signature.getInstance(how);
        signature.initSign(pair.getPrivate());
        signature.update(text.getBytes(StandardCharsets.US_ASCII));
        return text + "." + encoded(signature.sign());
    }
}
