package io.carillon.server.access;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Creates API keys, and recognizes the ids of its keys without the database: the last four characters of an id depend
 * on the others and on a secret that all servers on a database share. Invented keys are therefore rejected in memory,
 * and a client that sends them costs the database nothing and makes no other client wait.
 */
public final class KeyIssuer {
    private static final int RANDOM_LENGTH = 8;

    private final SecretKeySpec secret;

    /** Creates an issuer with a secret of 32 bytes. */
    public KeyIssuer(byte[] secret) {
        this.secret = new SecretKeySpec(secret, "HmacSHA256");
    }

    /** Generates a random key. */
    public PlaintextApiKey generate() {
        String random = PlaintextApiKey.random(RANDOM_LENGTH);
        return new PlaintextApiKey(random + proof(random), PlaintextApiKey.random(PlaintextApiKey.SECRET_LENGTH));
    }

    /**
     * Returns whether a server on this database created a key with this id. A guess is right once in 14 million times.
     */
    boolean isIssued(String id) {
        byte[] expected = proof(id.substring(0, RANDOM_LENGTH)).getBytes(StandardCharsets.US_ASCII);
        return MessageDigest.isEqual(expected, id.substring(RANDOM_LENGTH).getBytes(StandardCharsets.US_ASCII));
    }

    private String proof(String random) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(secret);
            byte[] code = mac.doFinal(random.getBytes(StandardCharsets.US_ASCII));
            long number = ByteBuffer.wrap(code).getLong() & Long.MAX_VALUE;
            return PlaintextApiKey.inAlphabet(number, PlaintextApiKey.ID_LENGTH - RANDOM_LENGTH);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("HmacSHA256 is missing in this JDK", impossible);
        }
    }
}
