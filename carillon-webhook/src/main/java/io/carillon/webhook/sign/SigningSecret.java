package io.carillon.webhook.sign;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A signing secret shared with one receiver: {@code whsec_} and 24 to 64 bytes in Base64. Its text form does not appear
 * in logs.
 */
public final class SigningSecret {
    private static final String PREFIX = "whsec_";
    private static final int MIN_BYTES = 24;
    private static final int MAX_BYTES = 64;
    private static final String ALGORITHM = "HmacSHA256";

    private final byte[] key;

    private SigningSecret(byte[] key) {
        this.key = key;
    }

    /** Parses the text form, with or without its prefix. */
    public static SigningSecret parse(String text) {
        byte[] key;
        try {
            key = Base64.getDecoder().decode(text.startsWith(PREFIX) ? text.substring(PREFIX.length()) : text);
        } catch (IllegalArgumentException malformed) {
            throw refused();
        }
        if (key.length < MIN_BYTES || key.length > MAX_BYTES) throw refused();
        return new SigningSecret(key);
    }

    /** Generates a secret of 32 random bytes. */
    public static SigningSecret generate() {
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        return new SigningSecret(key);
    }

    /** Returns the text form, to store it or to give it to the receiver. */
    public String reveal() {
        return PREFIX + Base64.getEncoder().encodeToString(key);
    }

    /**
     * Returns the value of {@code webhook-signature}: one signature per secret, so that the receiver may have
     * any of them.
     */
    public static String signatures(List<SigningSecret> secrets, String id, long timestamp, byte[] body) {
        return secrets.stream().map(secret -> secret.sign(id, timestamp, body)).collect(Collectors.joining(" "));
    }

    /** Signs {@code id.timestamp.body}, where the body is the bytes that are sent. */
    String sign(String id, long timestamp, byte[] body) {
        // An id with a dot would make the signed text ambiguous.
        if (id.indexOf('.') >= 0) throw new IllegalArgumentException("a message id must not contain a dot: " + id);
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            mac.update((id + '.' + timestamp + '.').getBytes(UTF_8));
            return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException(ALGORITHM + " is missing in this JDK", missing);
        }
    }

    @Override
    public String toString() {
        return "SigningSecret[hidden]";
    }

    private static CarillonException refused() {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                ("A signing secret must be whsec_ followed by %d to %d bytes in Base64. "
                                + "SigningSecret.generate() creates one.")
                        .formatted(MIN_BYTES, MAX_BYTES));
    }
}
