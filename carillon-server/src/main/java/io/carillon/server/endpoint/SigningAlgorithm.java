package io.carillon.server.endpoint;

import io.carillon.server.store.StoredEndpoint;
import io.carillon.spi.Secret;
import io.carillon.webhook.sign.SigningSecret;
import org.jspecify.annotations.Nullable;

/** How a signing secret signs. */
public enum SigningAlgorithm {
    /** Sender and receiver have the same secret. */
    HMAC_SHA256,
    /** The receiver has the public key, which cannot sign. */
    ED25519;

    /** Returns a new secret. */
    public Secret generate() {
        SigningSecret secret = this == ED25519 ? SigningSecret.generateEd25519() : SigningSecret.generate();
        return Secret.of(secret.reveal());
    }

    /** Returns the algorithm of a secret that signs. */
    public static SigningAlgorithm of(StoredEndpoint.StoredSecret secret) {
        return ofPublicKey(secret.publicKey());
    }

    static SigningAlgorithm ofPublicKey(@Nullable String publicKey) {
        return publicKey == null ? HMAC_SHA256 : ED25519;
    }
}
