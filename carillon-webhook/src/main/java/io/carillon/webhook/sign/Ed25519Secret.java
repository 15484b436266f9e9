package io.carillon.webhook.sign;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.EdECPrivateKeySpec;
import java.security.spec.NamedParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;

/**
 * A private key of Ed25519: {@code whsk_} and its 32 bytes (the seed of RFC 8032) in Base64. Other senders also write
 * the public key behind them; both forms are read.
 */
final class Ed25519Secret extends SigningSecret {
    static final String PREFIX = "whsk_";
    private static final String PUBLIC_PREFIX = "whpk_";
    private static final String ALGORITHM = "Ed25519";
    private static final int KEY_BYTES = 32;

    private final byte[] seed;

    private Ed25519Secret(byte[] seed) {
        this.seed = seed;
    }

    static Ed25519Secret fromText(String text) {
        byte[] key = decode(PREFIX, text);
        if (key.length != KEY_BYTES && key.length != 2 * KEY_BYTES) throw invalid();
        Ed25519Secret secret = new Ed25519Secret(Arrays.copyOf(key, KEY_BYTES));
        boolean matches = key.length == KEY_BYTES
                || Arrays.equals(secret.publicBytes(), Arrays.copyOfRange(key, KEY_BYTES, 2 * KEY_BYTES));
        if (!matches) throw invalid();
        return secret;
    }

    static Ed25519Secret random() {
        byte[] seed = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(seed);
        return new Ed25519Secret(seed);
    }

    @Override
    public String reveal() {
        return PREFIX + Base64.getEncoder().encodeToString(seed);
    }

    @Override
    public Optional<String> publicKey() {
        return Optional.of(PUBLIC_PREFIX + Base64.getEncoder().encodeToString(publicBytes()));
    }

    @Override
    String scheme() {
        return "v1a";
    }

    @Override
    byte[] sign(byte[] message) throws GeneralSecurityException {
        Signature signature = Signature.getInstance(ALGORITHM);
        signature.initSign(privateKey());
        signature.update(message);
        return signature.sign();
    }

    private PrivateKey privateKey() throws GeneralSecurityException {
        return KeyFactory.getInstance(ALGORITHM)
                .generatePrivate(new EdECPrivateKeySpec(NamedParameterSpec.ED25519, seed));
    }

    /**
     * Returns the public key. The JDK derives it only when it generates a key pair, so the generator gets the seed in
     * place of random bytes. A check follows, because a security provider may use random bytes in another way.
     */
    private byte[] publicBytes() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance(ALGORITHM);
            generator.initialize(NamedParameterSpec.ED25519, new SeedAsRandom(seed));
            KeyPair pair = generator.generateKeyPair();
            if (!isPair(pair.getPublic()))
                throw new IllegalStateException("this security provider cannot derive a public key of " + ALGORITHM);
            byte[] encoded = pair.getPublic().getEncoded();
            // X.509: the key is at the end.
            return Arrays.copyOfRange(encoded, encoded.length - KEY_BYTES, encoded.length);
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException(ALGORITHM + " is missing in this JDK", missing);
        }
    }

    private boolean isPair(PublicKey publicKey) throws GeneralSecurityException {
        byte[] message = new byte[0];
        Signature verification = Signature.getInstance(ALGORITHM);
        verification.initVerify(publicKey);
        verification.update(message);
        return verification.verify(sign(message));
    }

    /** Returns the seed as its random bytes. */
    private static final class SeedAsRandom extends SecureRandom {
        private static final long serialVersionUID = 1L;
        private final byte[] seed;

        SeedAsRandom(byte[] seed) {
            this.seed = seed;
        }

        @Override
        public void nextBytes(byte[] bytes) {
            System.arraycopy(seed, 0, bytes, 0, Math.min(seed.length, bytes.length));
        }
    }
}
