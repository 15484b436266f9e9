package io.carillon.server.cipher;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Optional;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * Encryption that detects changes (AES-GCM). The context is not encrypted; what is sealed opens in its context only.
 */
public final class AesGcm {
    public static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;

    private AesGcm() {}

    /**
     * Returns the nonce and the encrypted bytes.
     *
     * @param nonce must not be used for other bytes with the same key
     */
    public static byte[] seal(SecretKey key, byte[] nonce, String context, byte[] plain) {
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, key, nonce, context).doFinal(plain);
            return ByteBuffer.allocate(NONCE_BYTES + sealed.length)
                    .put(nonce)
                    .put(sealed)
                    .array();
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("AES/GCM is missing in this JDK", impossible);
        }
    }

    /** Returns the plain bytes; empty if the bytes were changed, or sealed with another key or in another context. */
    public static Optional<byte[]> open(SecretKey key, String context, byte[] sealed) {
        if (sealed.length <= NONCE_BYTES) return Optional.empty();
        try {
            return Optional.of(cipher(Cipher.DECRYPT_MODE, key, sealed, context)
                    .doFinal(sealed, NONCE_BYTES, sealed.length - NONCE_BYTES));
        } catch (GeneralSecurityException forged) {
            return Optional.empty();
        }
    }

    private static Cipher cipher(int mode, SecretKey key, byte[] nonce, String context)
            throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce, 0, NONCE_BYTES));
        cipher.updateAAD(context.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }
}
