package io.carillon.server.access;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/**
 * Calls an identity provider over HTTP. The time and the size of a whole response are bounded, and redirects are not
 * followed. Nimbus has a client too, but that one follows redirects and bounds each read instead of the response.
 */
public final class BoundedHttp {
    /** The longest response that is read, in bytes. */
    public static final int MAX_LENGTH = 256 * 1024;
    /** The longest time that a response may take. */
    public static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final Pattern LOOPBACK = Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[::1]");

    private final HttpClient client;
    private final Duration timeout;

    /** A response. */
    public record Reply(int status, Optional<String> contentType, String body) {}

    public BoundedHttp() {
        this(TIMEOUT);
    }

    /** Creates a client with another limit for the time of a response. */
    BoundedHttp(Duration timeout) {
        this.client = HttpClient.newBuilder()
                .connectTimeout(timeout)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
        this.timeout = timeout;
    }

    /** Returns whether a provider may have this URI: over https, or over http on a loopback address. */
    public static boolean isAllowed(URI address) {
        String host = address.getHost();
        if (host == null) return false;
        return "https".equals(address.getScheme())
                || ("http".equals(address.getScheme())
                        && LOOPBACK.matcher(host.toLowerCase(Locale.ROOT)).matches());
    }

    /** Sends a request and returns the response. Throws if there is none in time, or it is too long. */
    public Reply send(HttpRequest.Builder unsent) throws IOException {
        HttpRequest request = unsent.timeout(timeout).build();
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        CompletableFuture<HttpResponse<Void>> exchange = client.sendAsync(
                request,
                HttpResponse.BodyHandlers.ofByteArrayConsumer(part -> part.ifPresent(bytes -> {
                    if (body.size() + bytes.length > MAX_LENGTH)
                        throw new IllegalStateException("The response is longer than %d bytes.".formatted(MAX_LENGTH));
                    body.writeBytes(bytes);
                })));
        try {
            // The timeout of the request ends with the headers of the response; this one includes the body.
            HttpResponse<Void> response = exchange.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            return new Reply(
                    response.statusCode(),
                    response.headers().firstValue("Content-Type"),
                    body.toString(StandardCharsets.UTF_8));
        } catch (ExecutionException | TimeoutException failure) {
            throw new IOException("no usable response from " + request.uri(), failure);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for " + request.uri());
        } finally {
            exchange.cancel(true);
        }
    }
}
