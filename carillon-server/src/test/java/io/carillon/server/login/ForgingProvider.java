package io.carillon.server.login;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** An identity provider that answers with a defect. A real one does not. */
final class ForgingProvider implements AutoCloseable {
    enum Forgery {
        NONE,
        NO_NONCE,
        OTHER_NONCE,
        OTHER_ISSUER,
        OTHER_AUDIENCE,
        EXPIRED,
        NO_EXPIRY,
        NO_SIGNATURE,
        OTHER_KEY,
        HMAC_WITH_PUBLIC_KEY,
        NO_SUBJECT,
        LONG_SUBJECT,
        NO_TOKEN,
        REDIRECTS,
        ENDLESS,
        SLOW,
        WAITS,
        NO_ANSWER,
        CONFIGURATION_OF_OTHERS,
        PLAIN_HTTP_TOKENS,
        AWAY
    }

    private static final RSAKey KEY = key("first");
    private static final RSAKey OTHER_KEY = key("first");

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private volatile Forgery forgery = Forgery.NONE;
    private volatile String nonce = "";
    private volatile String lastTokenRequest = "";
    private final AtomicInteger tokenRequests = new AtomicInteger();

    ForgingProvider() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
        server.setExecutor(threads);
        server.createContext("/.well-known/openid-configuration", exchange -> {
            if (forgery == Forgery.AWAY) answer(exchange, 503, "away");
            else answer(exchange, 200, configuration());
        });
        server.createContext("/keys", exchange -> answer(exchange, 200, new JWKSet(KEY.toPublicJWK()).toString()));
        server.createContext("/token", this::token);
        server.start();
    }

    private static RSAKey key(String id) {
        try {
            return new RSAKeyGenerator(2048).keyID(id).generate();
        } catch (JOSEException impossible) {
            throw new AssertionError(impossible);
        }
    }

    String issuer() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    void forge(Forgery wanted) {
        forgery = wanted;
    }

    void startLogin(URI login) {
        nonce = login.getQuery().replaceAll(".*nonce=([^&]+).*", "$1");
    }

    int tokenRequests() {
        return tokenRequests.get();
    }

    String lastTokenRequest() {
        return lastTokenRequest;
    }

    private String configuration() {
        String issuer = forgery == Forgery.CONFIGURATION_OF_OTHERS ? "https://other.example" : issuer();
        String tokens = forgery == Forgery.PLAIN_HTTP_TOKENS ? "http://id.example/token" : issuer() + "/token";
        return """
                {"issuer":"%s","authorization_endpoint":"%s/login","token_endpoint":"%s","jwks_uri":"%s/keys",
                 "subject_types_supported":["public"],"response_types_supported":["code"],
                 "id_token_signing_alg_values_supported":["RS256"]}
                """.formatted(issuer, issuer(), tokens, issuer());
    }

    private void token(HttpExchange exchange) throws IOException {
        lastTokenRequest = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        tokenRequests.incrementAndGet();
        while (forgery == Forgery.WAITS) LockSupport.parkNanos(1_000_000);
        switch (forgery) {
            case NO_ANSWER -> exchange.close();
            case REDIRECTS -> {
                exchange.getResponseHeaders().add("Location", issuer() + "/elsewhere");
                exchange.sendResponseHeaders(307, -1);
                exchange.close();
            }
            case ENDLESS, SLOW -> drip(exchange);
            case NO_TOKEN -> answer(exchange, 200, "{\"access_token\":\"a\",\"token_type\":\"Bearer\"}");
            default ->
                answer(
                        exchange,
                        200,
                        "{\"access_token\":\"a\",\"token_type\":\"Bearer\",\"id_token\":\"%s\"}".formatted(idToken()));
        }
    }

    private void drip(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, 0);
        byte[] part = new byte[forgery == Forgery.ENDLESS ? 64 * 1024 : 1];
        try (OutputStream out = exchange.getResponseBody()) {
            // The server closes the connection.
            for (int i = 0; i < 1_000; i++) {
                out.write(part);
                out.flush();
                if (forgery == Forgery.SLOW) Thread.sleep(100);
            }
        } catch (IOException closed) {
            exchange.close();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private String idToken() {
        Map<String, Object> claims = new HashMap<>();
        long now = Instant.now().getEpochSecond();
        claims.put("iss", forgery == Forgery.OTHER_ISSUER ? "https://other.example" : issuer());
        claims.put("aud", forgery == Forgery.OTHER_AUDIENCE ? "another-client" : "client");
        claims.put("iat", now - 1);
        if (forgery != Forgery.NO_EXPIRY) claims.put("exp", forgery == Forgery.EXPIRED ? now - 3600 : now + 600);
        if (forgery != Forgery.NO_NONCE) claims.put("nonce", forgery == Forgery.OTHER_NONCE ? "other" : nonce);
        if (forgery != Forgery.NO_SUBJECT)
            claims.put("sub", forgery == Forgery.LONG_SUBJECT ? "s".repeat(256) : "subject");
        return signed(new Payload(claims));
    }

    private String signed(Payload claims) {
        try {
            if (forgery == Forgery.NO_SIGNATURE) {
                String header = Base64.getUrlEncoder()
                        .withoutPadding()
                        .encodeToString("{\"alg\":\"none\"}".getBytes(StandardCharsets.UTF_8));
                return header + "." + claims.toBase64URL() + ".";
            }
            boolean hmac = forgery == Forgery.HMAC_WITH_PUBLIC_KEY;
            JWSObject token = new JWSObject(
                    new JWSHeader.Builder(hmac ? JWSAlgorithm.HS256 : JWSAlgorithm.RS256)
                            .keyID("first")
                            .build(),
                    claims);
            token.sign(
                    hmac
                            ? new MACSigner(KEY.toRSAPublicKey().getEncoded())
                            : new RSASSASigner(forgery == Forgery.OTHER_KEY ? OTHER_KEY : KEY));
            return token.serialize();
        } catch (JOSEException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
