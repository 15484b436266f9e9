package io.carillon.webhook.sign;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A secret shared with one receiver: {@code whsec_} and 24 to 64 bytes in base 64. Signs; never shows itself in a log. */
public final class SigningSecret {
    private static final String PREFIX = "whsec_";
    private static final int FEWEST = 24;
    private static final int MOST = 64;
    private static final String ALGORITHM = "HmacSHA256";

    private final byte[] key;

    private SigningSecret(byte[] key) {
        this.key = key;
    }

    /** Reads the text form, with or without its prefix. */
    public static SigningSecret parse(String text) {
        byte[] key;
        try {
            key = Base64.getDecoder().decode(text.startsWith(PREFIX) ? text.substring(PREFIX.length()) : text);
        } catch (IllegalArgumentException malformed) {
            throw refused();
        }
        if (key.length < FEWEST || key.length > MOST) throw refused();
        return new SigningSecret(key);
    }

    /** A new one of 32 random bytes. */
    public static SigningSecret generate() {
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        return new SigningSecret(key);
    }

    /** The text form, for whoever stores it or hands it to the receiver. */
    public String reveal() {
        return PREFIX + Base64.getEncoder().encodeToString(key);
    }

    /** The value of {@code webhook-signature}: one signature for each secret, so that a receiver may hold any of them. */
    public static String signatures(List<SigningSecret> secrets, String id, long timestamp, byte[] body) {
        return secrets.stream().map(secret -> secret.sign(id, timestamp, body)).collect(Collectors.joining(" "));
    }

    /** Over {@code id.timestamp.body}, the body as the bytes that are sent. */
    String sign(String id, long timestamp, byte[] body) {
        // A dot would let one text be cut in two ways.
        if (id.indexOf('.') >= 0) throw new IllegalArgumentException("a message id has no dot: " + id);
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            mac.update((id + '.' + timestamp + '.').getBytes(UTF_8));
            return "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, missing);
        }
    }

    @Override
    public String toString() {
        return "SigningSecret[hidden]";
    }

    private static CarillonException refused() {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                "A signing secret is whsec_ followed by %d to %d bytes in base 64. Make one with SigningSecret.generate()."
                        .formatted(FEWEST, MOST));
    }
}
