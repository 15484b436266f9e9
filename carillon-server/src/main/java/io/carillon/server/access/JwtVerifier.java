package io.carillon.server.access;

import io.carillon.server.http.Caller;
import io.carillon.server.http.Json;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import io.carillon.value.WallClock;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import tools.jackson.databind.JsonNode;

/**
 * Verifies tokens of an identity provider (JWT): from one issuer, for one audience, and not expired. The claim {@code
 * project} names the project, and {@code scope} the scopes. The verifier determines the algorithm, never the token.
 */
public final class JwtVerifier implements BearerTokenVerifier {
    private static final long LEEWAY_SECONDS = 60;
    private static final int MAX_TOKEN_LENGTH = 8 * 1024;
    private static final Set<String> SCOPES = Set.of("read", "enqueue", "manage", "admin");
    private static final int MIN_SECRET_BYTES = 32;

    /** Checks the signature of a token with the given header. */
    @FunctionalInterface
    private interface SignatureCheck {
        boolean isValid(JsonNode header, byte[] signed, byte[] signature) throws GeneralSecurityException;
    }

    private final String issuer;
    private final String audience;
    private final SignatureCheck signatureCheck;

    private JwtVerifier(String issuer, String audience, SignatureCheck signatureCheck) {
        this.issuer = issuer;
        this.audience = audience;
        this.signatureCheck = signatureCheck;
    }

    /**
     * Verifies tokens that are signed with a secret shared by issuer and server (HS256). The secret has at least 32
     * bytes.
     */
    public static JwtVerifier withSharedSecret(String issuer, String audience, byte[] secret) {
        if (secret.length < MIN_SECRET_BYTES)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The shared secret has %d bytes, but must have at least %d. Use random bytes."
                            .formatted(secret.length, MIN_SECRET_BYTES));
        SecretKeySpec key = new SecretKeySpec(secret, "HmacSHA256");
        return new JwtVerifier(issuer, audience, (header, signed, signature) -> {
            if (!header.path("alg").stringValue("").equals("HS256")) return false;
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            return MessageDigest.isEqual(mac.doFinal(signed), signature);
        });
    }

    /** Verifies tokens that are signed with one of the issuer's keys (RS256 or ES256). */
    public static JwtVerifier withPublicKeys(String issuer, String audience, JwkSet keys) {
        return new JwtVerifier(issuer, audience, (header, signed, signature) -> {
            Optional<PublicKey> key = keys.find(header.path("kid").stringValue(""));
            if (key.isEmpty()) return false;
            boolean rsa = key.get().getAlgorithm().equals("RSA");
            if (!header.path("alg").stringValue("").equals(rsa ? "RS256" : "ES256")) return false;
            Signature check = Signature.getInstance(rsa ? "SHA256withRSA" : "SHA256withECDSAinP1363Format");
            check.initVerify(key.get());
            check.update(signed);
            return check.verify(signature);
        });
    }

    @Override
    public Optional<Caller> verify(String bearer) {
        String[] parts = bearer.split("\\.", -1);
        if (parts.length != 3 || bearer.length() > MAX_TOKEN_LENGTH) return Optional.empty();
        try {
            Optional<JsonNode> header = parseJson(parts[0]);
            Optional<JsonNode> claims = parseJson(parts[1]);
            byte[] signed = (parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII);
            if (header.isEmpty()
                    || claims.isEmpty()
                    || header.get().has("crit")
                    || !signatureCheck.isValid(header.get(), signed, decode(parts[2]))) return Optional.empty();
            return caller(claims.get());
        } catch (IllegalArgumentException | GeneralSecurityException | CarillonException notOne) {
            return Optional.empty();
        }
    }

    private Optional<Caller> caller(JsonNode claims) {
        long now = WallClock.millis() / 1000;
        boolean valid = claims.path("iss").stringValue("").equals(issuer)
                && isForAudience(claims.path("aud"))
                && claims.path("exp").isNumber()
                && claims.path("exp").longValue(0) > now - LEEWAY_SECONDS
                && claims.path("nbf").longValue(0) <= now + LEEWAY_SECONDS;
        if (!valid) return Optional.empty();
        String project = Names.check("project", claims.path("project").stringValue(""));
        String subject = Names.checkKey("subject", claims.path("sub").stringValue(""));
        List<String> given = Arrays.asList(claims.path("scope").stringValue("").split(" ", -1));
        Set<String> scopes = new HashSet<>(given);
        scopes.retainAll(SCOPES);
        return Optional.of(new Caller(project, "subject " + subject, scopes));
    }

    private boolean isForAudience(JsonNode audiences) {
        if (audiences.isString()) return audiences.stringValue().equals(audience);
        for (JsonNode one : audiences) if (one.stringValue("").equals(audience)) return true;
        return false;
    }

    private static Optional<JsonNode> parseJson(String part) {
        return Json.parseStored(decode(part)).filter(JsonNode::isObject);
    }

    private static byte[] decode(String part) {
        return Base64.getUrlDecoder().decode(part);
    }
}
