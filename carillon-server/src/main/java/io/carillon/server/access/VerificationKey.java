package io.carillon.server.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.MACVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.SignedJWT;
import java.security.interfaces.RSAPublicKey;
import java.util.Optional;

/**
 * A key and the only algorithm that it verifies. The key determines the algorithm, never the token: the verifiers of
 * Nimbus accept every algorithm of their family.
 */
record VerificationKey(JWSAlgorithm algorithm, JWSVerifier verifier) {
    private static final int MIN_RSA_BITS = 2048;

    /** Returns the key of a shared secret, for HS256. */
    static VerificationKey ofSecret(byte[] secret) throws JOSEException {
        return new VerificationKey(JWSAlgorithm.HS256, new MACVerifier(secret));
    }

    /** Returns the key of a public key, for RS256 or ES256; empty if it is of another kind or too short. */
    static Optional<VerificationKey> ofPublicKey(JWK key) throws JOSEException {
        if (key instanceof RSAKey rsa) {
            RSAPublicKey publicKey = rsa.toRSAPublicKey();
            if (publicKey.getModulus().bitLength() < MIN_RSA_BITS) return Optional.empty();
            return Optional.of(new VerificationKey(JWSAlgorithm.RS256, new RSASSAVerifier(publicKey)));
        }
        if (key instanceof ECKey ec && ec.getCurve().equals(Curve.P_256))
            return Optional.of(new VerificationKey(JWSAlgorithm.ES256, new ECDSAVerifier(ec)));
        return Optional.empty();
    }

    boolean verifies(SignedJWT token) throws JOSEException {
        return token.getHeader().getAlgorithm().equals(algorithm) && token.verify(verifier);
    }
}
