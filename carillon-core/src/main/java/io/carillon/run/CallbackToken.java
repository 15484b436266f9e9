package io.carillon.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/**
 * A secret that authorizes another system to complete one attempt: 256 random bits. {@link #toString} does not contain
 * the secret, and the store keeps only a digest.
 */
public final class CallbackToken {
    private static final SecureRandom RANDOM = new SecureRandom();
    private final String text;

    private CallbackToken(String text) {
        this.text = text;
    }

    /** Returns a new random token. */
    public static CallbackToken generate() {
        byte[] bytes = new byte[32];
        RANDOM.nextBytes(bytes);
        return new CallbackToken(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
    }

    /** Returns the secret text, to be sent to the system that completes the attempt. */
    public String reveal() {
        return text;
    }

    /** Returns the digest that the store keeps: SHA-256 as hexadecimal text. */
    public static String digest(String text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("SHA-256 is not available", missing);
        }
    }

    @Override
    public String toString() {
        return "CallbackToken[hidden]";
    }
}
