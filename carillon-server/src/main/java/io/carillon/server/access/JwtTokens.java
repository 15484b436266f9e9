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
 * Tokens of an identity provider (JWT): from one issuer, for one audience, and not expired. The claim {@code project} names the project and {@code scope} the
 * scopes. Which way a token is signed is settled here and not by the token.
 */
public final class JwtTokens implements Tokens {
    private static final long LEEWAY_SECONDS = 60;
    private static final int LONGEST = 8 * 1024;
    private static final Set<String> SCOPES = Set.of("read", "enqueue", "manage", "admin");
    private static final int SHORTEST_SECRET = 32;

    /** Judges a signature by the header that came with it. */
    @FunctionalInterface
    private interface Seal {
        boolean holds(JsonNode header, byte[] signed, byte[] signature) throws GeneralSecurityException;
    }

    private final String issuer;
    private final String audience;
    private final Seal seal;

    private JwtTokens(String issuer, String audience, Seal seal) {
        this.issuer = issuer;
        this.audience = audience;
        this.seal = seal;
    }

    /** Signed by a secret that issuer and server share (HS256); it has at least 32 bytes. */
    public static JwtTokens shared(String issuer, String audience, byte[] secret) {
        if (secret.length < SHORTEST_SECRET)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The secret of tokens has %d bytes. Use at least %d random ones."
                            .formatted(secret.length, SHORTEST_SECRET));
        SecretKeySpec key = new SecretKeySpec(secret, "HmacSHA256");
        return new JwtTokens(issuer, audience, (header, signed, signature) -> {
            if (!header.path("alg").stringValue("").equals("HS256")) return false;
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            return MessageDigest.isEqual(mac.doFinal(signed), signature);
        });
    }

    /** Signed by one of the issuer's keys (RS256 or ES256). */
    public static JwtTokens signed(String issuer, String audience, KeySet keys) {
        return new JwtTokens(issuer, audience, (header, signed, signature) -> {
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
    public Optional<Caller> read(String bearer) {
        String[] parts = bearer.split("\\.", -1);
        if (parts.length != 3 || bearer.length() > LONGEST) return Optional.empty();
        try {
            Optional<JsonNode> header = json(parts[0]);
            Optional<JsonNode> claims = json(parts[1]);
            byte[] signed = (parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII);
            if (header.isEmpty()
                    || claims.isEmpty()
                    || header.get().has("crit")
                    || !seal.holds(header.get(), signed, bytes(parts[2]))) return Optional.empty();
            return caller(claims.get());
        } catch (IllegalArgumentException | GeneralSecurityException | CarillonException notOne) {
            return Optional.empty();
        }
    }

    private Optional<Caller> caller(JsonNode claims) {
        long now = WallClock.millis() / 1000;
        boolean valid = claims.path("iss").stringValue("").equals(issuer)
                && meant(claims.path("aud"))
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

    private boolean meant(JsonNode audiences) {
        if (audiences.isString()) return audiences.stringValue().equals(audience);
        for (JsonNode one : audiences) if (one.stringValue("").equals(audience)) return true;
        return false;
    }

    private static Optional<JsonNode> json(String part) {
        return Json.stored(bytes(part)).filter(JsonNode::isObject);
    }

    private static byte[] bytes(String part) {
        return Base64.getUrlDecoder().decode(part);
    }
}
