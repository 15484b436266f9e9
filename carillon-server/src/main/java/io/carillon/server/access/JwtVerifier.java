package io.carillon.server.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import io.carillon.internal.value.WallClock;
import io.carillon.server.http.Caller;
import io.carillon.server.http.KeyLimits;
import java.text.ParseException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Verifies tokens of an identity provider (JWT): from one issuer, for one audience, and not expired. The claim {@code
 * project} names the project, and {@code scope} the scopes. The verifier determines the algorithm, never the token.
 */
public final class JwtVerifier implements BearerTokenVerifier {
    private static final int LEEWAY_SECONDS = 60;
    private static final Set<String> SCOPES = Set.of("read", "enqueue", "manage", "admin");
    private static final int MIN_SECRET_BYTES = 32;

    private final Function<String, Optional<VerificationKey>> keys;
    private final ClaimsCheck claimsCheck;

    private JwtVerifier(String issuer, String audience, Function<String, Optional<VerificationKey>> keys) {
        this.keys = keys;
        this.claimsCheck = new ClaimsCheck(issuer, audience);
    }

    /**
     * Verifies tokens that are signed with a secret shared by issuer and server (HS256). The secret has at
     * least 32 bytes.
     */
    public static JwtVerifier withSharedSecret(String issuer, String audience, byte[] secret) {
        if (secret.length < MIN_SECRET_BYTES)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The shared secret has %d bytes, but must have at least %d. Use random bytes."
                            .formatted(secret.length, MIN_SECRET_BYTES));
        try {
            Optional<VerificationKey> key = Optional.of(VerificationKey.ofSecret(secret));
            return new JwtVerifier(issuer, audience, id -> key);
        } catch (JOSEException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Verifies tokens that are signed with one of the issuer's keys (RS256 or ES256). */
    public static JwtVerifier withPublicKeys(String issuer, String audience, JwkSet keys) {
        return new JwtVerifier(issuer, audience, keys::find);
    }

    @Override
    public Optional<Caller> verify(String bearer) {
        try {
            Optional<SignedJWT> token = SignedTokens.parse(bearer);
            return token.isPresent() && SignedTokens.hasValidSignature(token.get(), keys)
                    ? caller(token.get())
                    : Optional.empty();
        } catch (ParseException | JOSEException | BadJWTException | CarillonException refused) {
            return Optional.empty();
        }
    }

    private Optional<Caller> caller(SignedJWT token) throws ParseException, BadJWTException {
        Map<String, Object> claims = token.getPayload().toJSONObject();
        if (claims == null) return Optional.empty();
        JWTClaimsSet parsed = JWTClaimsSet.parse(claims);
        // The check of Nimbus takes a claim with the value null as present, and such a token would never expire.
        Date expiration = parsed.getExpirationTime();
        if (expiration == null) return Optional.empty();
        claimsCheck.verify(parsed, null);
        String project = Names.check("project", text(claims, "project"));
        String subject = Names.checkKey("subject", text(claims, "sub"));
        Set<String> scopes = new HashSet<>(Arrays.asList(text(claims, "scope").split(" ", -1)));
        scopes.retainAll(SCOPES);
        return Optional.of(new Caller(project, "subject " + subject, scopes, KeyLimits.until(expiration.toInstant())));
    }

    private static String text(Map<String, Object> claims, String name) {
        return claims.get(name) instanceof String text ? text : "";
    }

    /** Checks issuer, audience and times. */
    private static final class ClaimsCheck extends DefaultJWTClaimsVerifier<SecurityContext> {
        ClaimsCheck(String issuer, String audience) {
            super(audience, new JWTClaimsSet.Builder().issuer(issuer).build(), Set.of("exp"));
            setMaxClockSkew(LEEWAY_SECONDS);
        }

        @Override
        protected Date currentTime() {
            return Date.from(Instant.ofEpochMilli(WallClock.millis()));
        }
    }
}
