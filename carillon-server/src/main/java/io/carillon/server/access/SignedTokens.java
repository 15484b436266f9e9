package io.carillon.server.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jwt.SignedJWT;
import java.text.ParseException;
import java.util.Base64;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/** Reads signed tokens (JWS), and verifies their signatures. The key determines the algorithm, never the token. */
final class SignedTokens {
    private static final int MAX_TOKEN_LENGTH = 8 * 1024;

    private SignedTokens() {}

    /** Returns the token in this text; empty if there is none, or it is too long. */
    static Optional<SignedJWT> parse(String text) {
        if (text.length() > MAX_TOKEN_LENGTH) return Optional.empty();
        try {
            // Nimbus ignores characters that are not base64url; such a token is refused.
            for (String part : text.split("\\.", -1)) Base64.getUrlDecoder().decode(part);
            return Optional.of(SignedJWT.parse(text));
        } catch (ParseException | RuntimeException malformed) {
            // For some headers, such as null, Nimbus throws unchecked exceptions.
            return Optional.empty();
        }
    }

    /** Returns whether the key that the token names has signed it. */
    static boolean hasValidSignature(SignedJWT token, Function<String, Optional<VerificationKey>> keys)
            throws JOSEException {
        JWSHeader header = token.getHeader();
        // No extension is supported, not even those that Nimbus knows.
        if (header.getCriticalParams() != null) return false;
        Optional<VerificationKey> key = keys.apply(Objects.requireNonNullElse(header.getKeyID(), ""));
        return key.isPresent() && key.get().verifies(token);
    }
}
