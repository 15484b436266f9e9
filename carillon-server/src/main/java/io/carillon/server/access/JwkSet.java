package io.carillon.server.access;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jwt.SignedJWT;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.TextCleaner;
import java.net.URI;
import java.text.ParseException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The public keys of an issuer (JWKS). They are read again after 10 minutes, or when an unknown key is asked for, but
 * at most every 30 seconds. A document of more than 256 KiB is not used, nor are more than 100 keys. Nimbus parses the
 * keys but does not cache them: its rate limit admits two requests in an interval.
 */
public final class JwkSet {
    static final int MAX_LENGTH = BoundedHttp.MAX_LENGTH;

    private static final Logger log = LoggerFactory.getLogger(JwkSet.class);
    private static final long MAX_AGE_NANOS = Duration.ofMinutes(10).toNanos();
    private static final long MIN_REFRESH_INTERVAL_NANOS =
            Duration.ofSeconds(30).toNanos();
    private static final Set<String> TYPES = Set.of("RSA", "EC");
    private static final int MAX_KEYS = 100;

    private final Supplier<Optional<String>> source;
    private final LongSupplier nanoTime;
    private volatile Map<String, VerificationKey> keys = Map.of();
    private volatile long fetchedNanos;
    private volatile boolean hasFetched;

    /** Reads the key document from this supplier, which returns empty if the document is not available now. */
    public JwkSet(Supplier<Optional<String>> source) {
        this(source, System::nanoTime);
    }

    JwkSet(Supplier<Optional<String>> source, LongSupplier nanoTime) {
        this.source = source;
        this.nanoTime = nanoTime;
    }

    /**
     * Reads the key document from this URI, which the operator configured. It must be allowed: a network that can
     * change the keys can sign tokens.
     */
    public static JwkSet fromUri(URI address) {
        if (!isAllowed(address))
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The URL of the issuer's keys must begin with https://; http:// is allowed for an address of this "
                            + "machine only (was %s).".formatted(TextCleaner.clean(address.toString(), 200)));
        return new JwkSet(new JwkSetFetcher(address));
    }

    /** Returns whether keys may be read from this URI: over https, or over http from a loopback address. */
    public static boolean isAllowed(URI address) {
        return BoundedHttp.isAllowed(address);
    }

    /**
     * Returns the claims of a token that one of these keys has signed; empty if the token is malformed or its signature
     * is not valid. The caller checks the claims.
     */
    public Optional<Map<String, Object>> signedClaims(String text) {
        try {
            Optional<SignedJWT> token = SignedTokens.parse(text);
            return token.isPresent() && SignedTokens.hasValidSignature(token.get(), this::find)
                    ? Optional.ofNullable(token.get().getPayload().toJSONObject())
                    : Optional.empty();
        } catch (JOSEException refused) {
            return Optional.empty();
        }
    }

    /** Returns whether any key is known. */
    public boolean isKnown() {
        return !keys.isEmpty();
    }

    Optional<VerificationKey> find(String id) {
        long age = nanoTime.getAsLong() - fetchedNanos;
        if (!hasFetched || age > MAX_AGE_NANOS || (!keys.containsKey(id) && age > MIN_REFRESH_INTERVAL_NANOS))
            refresh();
        return Optional.ofNullable(keys.get(id));
    }

    private synchronized void refresh() {
        if (hasFetched && nanoTime.getAsLong() - fetchedNanos < MIN_REFRESH_INTERVAL_NANOS) return;
        fetchedNanos = nanoTime.getAsLong();
        hasFetched = true;
        source.get().ifPresent(document -> {
            try {
                keys = parse(document);
            } catch (ParseException invalid) {
                log.warn("could not parse the issuer's keys; keeping the known ones", invalid);
            }
        });
    }

    private static Map<String, VerificationKey> parse(String document) throws ParseException {
        Map<String, VerificationKey> found = new HashMap<>();
        Map<String, Object>[] given =
                JSONObjectUtils.getJSONObjectArray(JSONObjectUtils.parse(document, MAX_LENGTH), "keys");
        if (given == null) return found;
        for (Map<String, Object> key : given) {
            if (found.size() == MAX_KEYS) {
                log.warn("the issuer has more than {} keys; the others are not used", MAX_KEYS);
                break;
            }
            String id = key.get("kid") instanceof String text ? text : "";
            // An issuer may have keys of other types for other purposes.
            if (!(key.get("kty") instanceof String type && TYPES.contains(type))) continue;
            try {
                VerificationKey.ofPublicKey(JWK.parse(key)).ifPresent(usable -> found.put(id, usable));
            } catch (ParseException | JOSEException | RuntimeException unusable) {
                log.warn(
                        "unusable key in the issuer's key set kid={}",
                        ControlCharacters.escape(TextCleaner.clean(id, 200)),
                        unusable);
            }
        }
        return found;
    }
}
