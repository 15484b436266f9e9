package io.carillon.server.access;

import io.carillon.server.http.Json;
import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/**
 * The public keys of an issuer (JWKS). They are read again after 10 minutes, or when an unknown key is asked for, but
 * at most every 30 seconds.
 */
public final class JwkSet {
    private static final Logger log = LoggerFactory.getLogger(JwkSet.class);
    private static final long MAX_AGE_NANOS = Duration.ofMinutes(10).toNanos();
    private static final long MIN_REFRESH_INTERVAL_NANOS =
            Duration.ofSeconds(30).toNanos();
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int MIN_RSA_BITS = 2048;

    private final Supplier<Optional<String>> source;
    private volatile Map<String, PublicKey> keys = Map.of();
    private volatile long fetchedNanos;
    private volatile boolean hasFetched;

    /** Reads the key document from this supplier, which returns empty if the document is not available now. */
    public JwkSet(Supplier<Optional<String>> source) {
        this.source = source;
    }

    /** Reads the key document from this URI, which the operator configured. */
    public static JwkSet fromUri(URI address) {
        HttpClient client = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
        HttpRequest request = HttpRequest.newBuilder(address).timeout(TIMEOUT).build();
        return new JwkSet(() -> fetch(client, request));
    }

    private static Optional<String> fetch(HttpClient client, HttpRequest request) {
        try {
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() == 200) return Optional.of(response.body());
            log.warn("could not read the issuer's keys; keeping the known ones status={}", response.statusCode());
        } catch (IOException failure) {
            log.warn("could not read the issuer's keys; keeping the known ones", failure);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
        return Optional.empty();
    }

    Optional<PublicKey> find(String id) {
        long age = System.nanoTime() - fetchedNanos;
        if (!hasFetched || age > MAX_AGE_NANOS || (!keys.containsKey(id) && age > MIN_REFRESH_INTERVAL_NANOS))
            refresh();
        return Optional.ofNullable(keys.get(id));
    }

    private synchronized void refresh() {
        if (hasFetched && System.nanoTime() - fetchedNanos < MIN_REFRESH_INTERVAL_NANOS) return;
        fetchedNanos = System.nanoTime();
        hasFetched = true;
        source.get()
                .flatMap(text -> Json.parseStored(text.getBytes(StandardCharsets.UTF_8)))
                .ifPresent(document -> keys = parse(document));
    }

    private static Map<String, PublicKey> parse(JsonNode document) {
        Map<String, PublicKey> found = new HashMap<>();
        for (JsonNode key : document.path("keys")) {
            try {
                key(key).ifPresent(parsed -> found.put(key.path("kid").stringValue(""), parsed));
            } catch (GeneralSecurityException | IllegalArgumentException unusable) {
                log.warn("unusable key in the issuer's key set kid={}", key.path("kid"));
            }
        }
        return found;
    }

    private static Optional<PublicKey> key(JsonNode key) throws GeneralSecurityException {
        String type = key.path("kty").stringValue("");
        if (type.equals("RSA")) {
            BigInteger modulus = number(key, "n");
            if (modulus.bitLength() < MIN_RSA_BITS) return Optional.empty();
            return Optional.of(
                    KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(modulus, number(key, "e"))));
        }
        if (!type.equals("EC") || !key.path("crv").stringValue("").equals("P-256")) return Optional.empty();
        AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
        curve.init(new ECGenParameterSpec("secp256r1"));
        return Optional.of(KeyFactory.getInstance("EC")
                .generatePublic(new ECPublicKeySpec(
                        new ECPoint(number(key, "x"), number(key, "y")),
                        curve.getParameterSpec(ECParameterSpec.class))));
    }

    private static BigInteger number(JsonNode key, String name) {
        return new BigInteger(1, Base64.getUrlDecoder().decode(key.path(name).stringValue("")));
    }
}
