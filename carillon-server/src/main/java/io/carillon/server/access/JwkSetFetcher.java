package io.carillon.server.access;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the key document of an issuer over HTTP. Nimbus has a fetcher too, but that one follows redirects, accepts
 * other statuses than 200, and bounds each read instead of the whole response.
 */
final class JwkSetFetcher implements Supplier<Optional<String>> {
    private static final Logger log = LoggerFactory.getLogger(JwkSetFetcher.class);
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final HttpClient client;
    private final HttpRequest request;
    private final Duration timeout;

    JwkSetFetcher(URI address) {
        this(address, TIMEOUT);
    }

    /** Creates a fetcher with another limit for the time of a response. */
    JwkSetFetcher(URI address, Duration timeout) {
        this.client = HttpClient.newBuilder()
                .connectTimeout(timeout)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
        this.request = HttpRequest.newBuilder(address).timeout(timeout).build();
        this.timeout = timeout;
    }

    @Override
    public Optional<String> get() {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        CompletableFuture<HttpResponse<Void>> exchange = client.sendAsync(
                request,
                HttpResponse.BodyHandlers.ofByteArrayConsumer(part -> part.ifPresent(bytes -> {
                    if (body.size() + bytes.length > JwkSet.MAX_LENGTH)
                        throw new IllegalStateException(
                                "The response is longer than %d bytes.".formatted(JwkSet.MAX_LENGTH));
                    body.writeBytes(bytes);
                })));
        try {
            // The timeout of the request ends with the headers of the response; this one includes the body.
            int status = exchange.get(timeout.toMillis(), TimeUnit.MILLISECONDS).statusCode();
            if (status == 200) return Optional.of(body.toString(StandardCharsets.UTF_8));
            log.warn("could not read the issuer's keys; keeping the known ones status={}", status);
        } catch (ExecutionException | TimeoutException failure) {
            log.warn("could not read the issuer's keys; keeping the known ones", failure);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        } finally {
            exchange.cancel(true);
        }
        return Optional.empty();
    }
}
