package io.carillon.server.access;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** An issuer with one RSA key, {@value #KEY_ID}. It signs with the JDK, so that no test relies on the library. */
final class TestIssuer {
    static final String KEY_ID = "r";
    private static final String ISSUER = "https://id.example";
    private static final String AUDIENCE = "carillon";
    private static final KeyPair RSA = rsaKeyPair();

    private TestIssuer() {}

    static JwtVerifier verifier(JwkSet keys) {
        return JwtVerifier.withPublicKeys(ISSUER, AUDIENCE, keys);
    }

    static JwtVerifier verifier() {
        return verifier(new JwkSet(() -> Optional.of(keySet(""))));
    }

    static RSAPublicKey publicKey() {
        return (RSAPublicKey) RSA.getPublic();
    }

    /** Returns the key document with some more members of the object, such as {@code ,"a":1}. */
    static String keySet(String more) {
        return "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"%s\",\"n\":\"%s\",\"e\":\"%s\"}]%s}"
                .formatted(
                        KEY_ID,
                        encoded(unsigned(publicKey().getModulus())),
                        encoded(unsigned(publicKey().getPublicExponent())),
                        more);
    }

    /** Returns valid claims that expire at this time, with some more members, such as {@code ,"nbf":1}. */
    static String claims(long expirySeconds, String more) {
        return "{\"iss\":\"%s\",\"aud\":\"%s\",\"sub\":\"ann\",\"project\":\"default\",\"scope\":\"read\",\"exp\":%d%s}"
                .formatted(ISSUER, AUDIENCE, expirySeconds, more);
    }

    static String claims() {
        return claims(32_503_680_000L, "");
    }

    /** Returns a token with an RS256 signature of the key, whatever its header says. */
    static String signed(String header, String claims) {
        return signed(header, claims, "SHA256withRSA");
    }

    /** Returns a token with a signature of the key by this algorithm of the JDK. */
    static String signed(String header, String claims, String algorithm) {
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(RSA.getPrivate());
            signature.update(input(header, claims).getBytes(StandardCharsets.US_ASCII));
            return input(header, claims) + "." + encoded(signature.sign());
        } catch (GeneralSecurityException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Returns a token with a valid header, signature and key id. */
    static String signed(String claims) {
        return signed("{\"alg\":\"RS256\",\"kid\":\"%s\"}".formatted(KEY_ID), claims);
    }

    static String signedWithHmac(String header, String claims, byte[] secret) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            byte[] code = mac.doFinal(input(header, claims).getBytes(StandardCharsets.US_ASCII));
            return input(header, claims) + "." + encoded(code);
        } catch (GeneralSecurityException impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Returns header and claims of a token, without a signature. */
    static String input(String header, String claims) {
        return encoded(header.getBytes(StandardCharsets.UTF_8)) + "."
                + encoded(claims.getBytes(StandardCharsets.UTF_8));
    }

    private static String encoded(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static byte[] unsigned(BigInteger number) {
        byte[] bytes = number.toByteArray();
        return bytes[0] == 0 ? Arrays.copyOfRange(bytes, 1, bytes.length) : bytes;
    }

    private static KeyPair rsaKeyPair() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(2048);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
