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

/** The public keys of an issuer (JWKS), read again when they are old or when one is asked for that is not among them, and then not too often. */
public final class KeySet {
    private static final Logger log = LoggerFactory.getLogger(KeySet.class);
    private static final long GOOD_FOR = Duration.ofMinutes(10).toNanos();
    private static final long NOT_SOONER = Duration.ofSeconds(30).toNanos();
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int LEAST_BITS = 2048;

    private final Supplier<Optional<String>> source;
    private volatile Map<String, PublicKey> keys = Map.of();
    private volatile long readAt;
    private volatile boolean read;

    /** From anywhere: the document, or nothing if it cannot be had now. */
    public KeySet(Supplier<Optional<String>> source) {
        this.source = source;
    }

    /** From an address that whoever runs the server chose. */
    public static KeySet at(URI address) {
        HttpClient client = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
        HttpRequest request = HttpRequest.newBuilder(address).timeout(TIMEOUT).build();
        return new KeySet(() -> fetched(client, request));
    }

    private static Optional<String> fetched(HttpClient client, HttpRequest request) {
        try {
            HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() == 200) return Optional.of(response.body());
            log.warn("the issuer's keys were not given status={}", response.statusCode());
        } catch (IOException failure) {
            log.warn("the issuer's keys cannot be read, the ones known go on", failure);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        }
        return Optional.empty();
    }

    Optional<PublicKey> find(String id) {
        long age = System.nanoTime() - readAt;
        if (!read || age > GOOD_FOR || (!keys.containsKey(id) && age > NOT_SOONER)) refresh();
        return Optional.ofNullable(keys.get(id));
    }

    private synchronized void refresh() {
        if (read && System.nanoTime() - readAt < NOT_SOONER) return;
        readAt = System.nanoTime();
        read = true;
        source.get()
                .flatMap(text -> Json.stored(text.getBytes(StandardCharsets.UTF_8)))
                .ifPresent(document -> keys = parsed(document));
    }

    private static Map<String, PublicKey> parsed(JsonNode document) {
        Map<String, PublicKey> found = new HashMap<>();
        for (JsonNode key : document.path("keys")) {
            try {
                key(key).ifPresent(parsed -> found.put(key.path("kid").stringValue(""), parsed));
            } catch (GeneralSecurityException | IllegalArgumentException unusable) {
                log.warn("one of the issuer's keys cannot be used kid={}", key.path("kid"));
            }
        }
        return found;
    }

    private static Optional<PublicKey> key(JsonNode key) throws GeneralSecurityException {
        String type = key.path("kty").stringValue("");
        if (type.equals("RSA")) {
            BigInteger modulus = number(key, "n");
            if (modulus.bitLength() < LEAST_BITS) return Optional.empty();
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
