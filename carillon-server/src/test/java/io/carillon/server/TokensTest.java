package io.carillon.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.server.access.JwtTokens;
import io.carillon.server.access.KeySet;
import io.carillon.server.http.Caller;
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

/** Tokens of an identity provider open what their claims say, and nothing if anything about them is wrong. */
class TokensTest {
    private static final byte[] SECRET = "a secret of at least thirty-two bytes".getBytes(StandardCharsets.UTF_8);
    private static final String GOOD =
            "{\"iss\":\"https://id.example\",\"aud\":[\"other\",\"carillon\"],\"sub\":\"ann\",\"project\":\"default\",\"scope\":\"openid read\",\"exp\":32503680000}";

    @RegisterExtension
    static final Served SERVED = new Served(
            builder -> builder, server -> server.tokens(JwtTokens.shared("https://id.example", "carillon", SECRET)));

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
    void opens_what_its_scopes_say() {
        String token = shared(GOOD);
        SERVED.get(token, "/v1/stats").is(200);
        SERVED.post(
                        token,
                        "/v1/runs",
                        Samples.body(Contract.the().find("POST", "/v1/runs").orElseThrow()))
                .is(403);
        String manager = shared(GOOD.replace("openid read", "manage"));
        SERVED.post(manager, "/v1/runs", "{\"target\":{\"handler\":\"a\"},\"after\":\"1h\"}")
                .is(201);
        assertThat(SERVED.one("SELECT actor FROM carillon.audit ORDER BY id DESC LIMIT 1"))
                .isEqualTo("subject ann");
    }

    @Test
    void opens_nothing_if_anything_about_it_is_wrong() {
        for (String claims : List.of(
                GOOD.replace("id.example", "id.other"),
                GOOD.replace("\"carillon\"", "\"else\""),
                GOOD.replace("32503680000", "1000"),
                GOOD.replace(",\"exp\":32503680000", ""),
                GOOD.replace("\"exp\":32503680000", "\"exp\":32503680000,\"nbf\":32503680000"),
                GOOD.replace("\"project\":\"default\"", "\"project\":\"nobody\""),
                GOOD.replace("\"project\":\"default\",", ""),
                "[]"))
            assertThat(SERVED.get(shared(claims), "/v1/stats").status())
                    .as(claims)
                    .isEqualTo(401);
        String none = encoded("{\"alg\":\"none\"}") + "." + encoded(GOOD) + ".";
        String swapped = shared("{\"alg\":\"RS256\"}", GOOD);
        String good = shared(GOOD);
        String cut = good.substring(0, good.length() - 4);
        for (String token : List.of(none, swapped, cut, good + "x", "a.b.c", "..", "a.b"))
            assertThat(SERVED.get(token, "/v1/stats").status()).as(token).isEqualTo(401);
        assertThat(SERVED.one("SELECT count(*) FROM carillon.project WHERE project = 'nobody'"))
                .isEqualTo("0");
    }

    @Test
    void is_signed_by_a_key_of_the_issuer() throws GeneralSecurityException {
        KeyPair rsa = pair("RSA");
        KeyPair ec = pair("EC");
        RSAPublicKey rsaPublic = (RSAPublicKey) rsa.getPublic();
        ECPublicKey ecPublic = (ECPublicKey) ec.getPublic();
        String document =
                "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"r\",\"n\":\"%s\",\"e\":\"%s\"},{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"e\",\"x\":\"%s\",\"y\":\"%s\"},{\"kty\":\"odd\"}]}"
                        .formatted(
                                number(rsaPublic.getModulus()),
                                number(rsaPublic.getPublicExponent()),
                                number(ecPublic.getW().getAffineX()),
                                number(ecPublic.getW().getAffineY()));
        JwtTokens tokens = JwtTokens.signed("https://id.example", "carillon", new KeySet(() -> Optional.of(document)));

        assertThat(tokens.read(signed(rsa, "RS256", "r", "SHA256withRSA")).map(Caller::actor))
                .contains("subject ann");
        assertThat(tokens.read(signed(ec, "ES256", "e", "SHA256withECDSAinP1363Format")))
                .isPresent();
        assertThat(tokens.read(signed(pair("RSA"), "RS256", "r", "SHA256withRSA")))
                .isEmpty();
        assertThat(tokens.read(signed(rsa, "RS256", "unknown", "SHA256withRSA")))
                .isEmpty();
        assertThat(tokens.read(signed(rsa, "ES256", "r", "SHA256withRSA"))).isEmpty();
        assertThat(tokens.read(shared("{\"alg\":\"HS256\",\"kid\":\"r\"}", GOOD)))
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
