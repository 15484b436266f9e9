package io.carillon.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;

/** The right to complete one attempt from outside: 256 random bits, handed to whoever goes on with the work. It does not show itself; the store keeps a digest. */
public final class CompletionToken {
    private static final SecureRandom RANDOM = new SecureRandom();
    private final String text;

    private CompletionToken(String text) {
        this.text = text;
    }

    /** A new one. */
    public static CompletionToken next() {
        byte[] bytes = new byte[32];
        RANDOM.nextBytes(bytes);
        return new CompletionToken(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
    }

    /** The text to hand over. */
    public String reveal() {
        return text;
    }

    /** What is kept of a token's text. */
    public static String digest(String text) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every JDK has SHA-256", missing);
        }
    }

    @Override
    public String toString() {
        return "CompletionToken[hidden]";
    }
}
