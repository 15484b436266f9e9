package io.carillon.webhook.sign;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A secret that signs messages to a receiver. There are two kinds: {@code whsec_}, which the receiver must have too
 * (HMAC-SHA256), and {@code whsk_}, whose {@link #publicKey} the receiver needs (Ed25519). The text form does not
 * appear in logs.
 */
public abstract sealed class SigningSecret permits HmacSecret, Ed25519Secret {
    SigningSecret() {}

    /** Parses the text form. Without a prefix it is an HMAC secret. */
    public static SigningSecret parse(String text) {
        return text.startsWith(Ed25519Secret.PREFIX) ? Ed25519Secret.fromText(text) : HmacSecret.fromText(text);
    }

    /** Returns whether the text starts like a signing secret. */
    public static boolean hasPrefix(String text) {
        return text.startsWith(HmacSecret.PREFIX) || text.startsWith(Ed25519Secret.PREFIX);
    }

    /** Generates an HMAC secret of 32 random bytes. */
    public static SigningSecret generate() {
        return HmacSecret.random();
    }

    /** Generates an Ed25519 key pair. */
    public static SigningSecret generateEd25519() {
        return Ed25519Secret.random();
    }

    /** Returns the text form, to store it or, for HMAC, to give it to the receiver. */
    public abstract String reveal();

    /**
     * Returns {@code whpk_} and the public key in Base64, to give it to the receiver; empty for HMAC, which has no
     * public key.
     */
    public abstract Optional<String> publicKey();

    /**
     * Returns the value of {@code webhook-signature}: one signature per secret, so that the receiver may have any of
     * them.
     */
    public static String signatures(List<SigningSecret> secrets, String id, long timestamp, byte[] body) {
        return secrets.stream().map(secret -> secret.sign(id, timestamp, body)).collect(Collectors.joining(" "));
    }

    /** Signs {@code id.timestamp.body}, where the body is the bytes that are sent. */
    String sign(String id, long timestamp, byte[] body) {
        // An id with a dot would make the signed text ambiguous.
        if (id.indexOf('.') >= 0) throw new IllegalArgumentException("a message id must not contain a dot: " + id);
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        message.writeBytes((id + '.' + timestamp + '.').getBytes(UTF_8));
        message.writeBytes(body);
        try {
            return scheme() + "," + Base64.getEncoder().encodeToString(sign(message.toByteArray()));
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("the JDK cannot sign with " + scheme(), missing);
        }
    }

    /** Returns the identifier of the signature scheme in Standard Webhooks. */
    abstract String scheme();

    abstract byte[] sign(byte[] message) throws GeneralSecurityException;

    @Override
    public final String toString() {
        return "SigningSecret[hidden]";
    }

    static byte[] decode(String prefix, String text) {
        try {
            return Base64.getDecoder().decode(text.startsWith(prefix) ? text.substring(prefix.length()) : text);
        } catch (IllegalArgumentException malformed) {
            throw invalid();
        }
    }

    /** Returns the exception. Its message does not contain the secret. */
    static CarillonException invalid() {
        return new CarillonException(
                ErrorCode.INVALID_OPTION,
                ("A signing secret must be whsec_ followed by %d to %d bytes in Base64. "
                                + "SigningSecret.generate() creates one. An Ed25519 secret must be whsk_ followed by "
                                + "the 32 bytes of the private key, or by these and the 32 bytes of its public key, "
                                + "in Base64.")
                        .formatted(HmacSecret.MIN_BYTES, HmacSecret.MAX_BYTES));
    }
}
