package io.carillon.webhook.sign;

import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A secret shared with one receiver: {@code whsec_} and 24 to 64 bytes in Base64. Signs with HMAC-SHA256. */
final class HmacSecret extends SigningSecret {
    static final String PREFIX = "whsec_";
    static final int MIN_BYTES = 24;
    static final int MAX_BYTES = 64;
    private static final String ALGORITHM = "HmacSHA256";

    private final byte[] key;

    private HmacSecret(byte[] key) {
        this.key = key;
    }

    static HmacSecret fromText(String text) {
        byte[] key = decode(PREFIX, text);
        if (key.length < MIN_BYTES || key.length > MAX_BYTES) throw invalid();
        return new HmacSecret(key);
    }

    static HmacSecret random() {
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        return new HmacSecret(key);
    }

    @Override
    public String reveal() {
        return PREFIX + Base64.getEncoder().encodeToString(key);
    }

    @Override
    public Optional<String> publicKey() {
        return Optional.empty();
    }

    @Override
    String scheme() {
        return "v1";
    }

    @Override
    byte[] sign(byte[] message) throws GeneralSecurityException {
        Mac mac = Mac.getInstance(ALGORITHM);
        mac.init(new SecretKeySpec(key, ALGORITHM));
        return mac.doFinal(message);
    }
}
