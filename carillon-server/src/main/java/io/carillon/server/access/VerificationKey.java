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
import java.math.BigInteger;
import java.security.interfaces.RSAPublicKey;
import java.util.Optional;

/**
 * A key and the only algorithm that it verifies. The key determines the algorithm, never the token: the verifiers of
 * Nimbus accept every algorithm of their family.
 */
record VerificationKey(JWSAlgorithm algorithm, JWSVerifier verifier) {
    private static final int MIN_RSA_BITS = 2048;
    /** A longer key makes each verification slow. */
    private static final int MAX_RSA_BITS = 8192;

    /** Returns the key of a shared secret, for HS256. */
    static VerificationKey ofSecret(byte[] secret) throws JOSEException {
        return new VerificationKey(JWSAlgorithm.HS256, new MACVerifier(secret));
    }

    /**
     * Returns the key of a public key, for RS256 or ES256; empty if it is of another kind, too short or too
     * long.
     */
    static Optional<VerificationKey> ofPublicKey(JWK key) throws JOSEException {
        if (key instanceof RSAKey rsa) {
            RSAPublicKey publicKey = rsa.toRSAPublicKey();
            int bits = publicKey.getModulus().bitLength();
            if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) return Optional.empty();
            return Optional.of(new VerificationKey(JWSAlgorithm.RS256, new RSASSAVerifier(publicKey)));
        }
        if (key instanceof ECKey ec && ec.getCurve().equals(Curve.P_256))
            return Optional.of(new VerificationKey(JWSAlgorithm.ES256, new ECDSAVerifier(ec)));
        return Optional.empty();
    }

    boolean verifies(SignedJWT token) throws JOSEException {
        return token.getHeader().getAlgorithm().equals(algorithm)
                && (!algorithm.equals(JWSAlgorithm.ES256)
                        || isInRange(token.getSignature().decode()))
                && token.verify(verifier);
    }

    /**
     * Returns whether both numbers of an ES256 signature are between 1 and the order of the curve. Java 17.0.0 to
     * 17.0.2 accepts zeros as the signature of every message (CVE-2022-21449).
     */
    static boolean isInRange(byte[] signature) {
        if (signature.length != 64) return false;
        BigInteger order = Curve.P_256.toECParameterSpec().getOrder();
        BigInteger r = new BigInteger(1, signature, 0, 32);
        BigInteger s = new BigInteger(1, signature, 32, 32);
        return r.signum() > 0 && s.signum() > 0 && r.compareTo(order) < 0 && s.compareTo(order) < 0;
    }
}
