package io.carillon.webhook.send;

import io.carillon.webhook.guard.AddressGuard;
import io.carillon.webhook.guard.Resolver;
import io.carillon.webhook.guard.TargetAddress;
import io.carillon.webhook.hosts.ProjectShares;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.apache.hc.client5.http.ConnectTimeoutException;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.config.Configurable;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpEntity;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.apache.hc.core5.util.Timeout;

/**
 * Sends one request to an address that the guard allows, and reads a bounded response. The timeout of the request
 * covers everything, including name resolution and slow receivers. Thread-safe.
 */
public final class Sender implements AutoCloseable {
    /** The maximum number of bytes to read. If there are more, the connection is closed. */
    private static final int MAX_READ_BYTES = 64 * 1024;
    /** The number of addresses of a name that are tried when connections fail. */
    private static final int MAX_ADDRESSES = 3;

    private static final Duration MAX_IDLE = Duration.ofSeconds(10);
    /** A project alone uses half of them. */
    private static final int MAX_CONNECTIONS = 1_024;

    private static final Duration PAUSE_OF_PROJECT = Duration.ofSeconds(1);

    private final AddressGuard addressGuard;
    private final CloseableHttpClient client;
    private final ScheduledExecutorService timeoutScheduler = Threads.timeoutScheduler();
    private final NameLookups lookups;
    /** So that the slow receivers of a project do not use up the connections of this node. */
    private final ProjectShares connections;

    public Sender(AddressGuard addressGuard, Resolver resolver, SSLContext tls) {
        this(addressGuard, resolver, tls, MAX_CONNECTIONS);
    }

    /** Creates a sender with another maximum number of connections. */
    Sender(AddressGuard addressGuard, Resolver resolver, SSLContext tls, int maxConnections) {
        this.addressGuard = addressGuard;
        this.lookups = new NameLookups(resolver);
        this.connections = new ProjectShares(maxConnections);
        this.client = HttpClientFactory.create(tls, maxConnections, MAX_IDLE);
    }

    /** Sends a request of a project once. */
    public SendResult send(String project, WebhookRequest webhookRequest) throws InterruptedException {
        Deadline deadline = new Deadline(webhookRequest.timeout());
        TargetAddress target = webhookRequest.address();
        Optional<List<InetAddress>> decided = addressGuard.decideWithoutResolving(target);
        if (decided.isPresent()) return send(project, webhookRequest, decided.get(), deadline);
        NameLookups.Result result = lookups.resolve(project, target.host(), deadline.remaining());
        if (result instanceof NameLookups.Result.HeldBack heldBack)
            return new SendResult.HeldBack(heldBack.reason(), heldBack.pause());
        if (result instanceof NameLookups.Result.Resolved resolved)
            return send(project, webhookRequest, addressGuard.allowed(target, resolved.addresses()), deadline);
        return new SendResult.TimedOut();
    }

    private SendResult send(
            String project, WebhookRequest webhookRequest, List<InetAddress> addresses, Deadline deadline)
            throws InterruptedException {
        if (addresses.isEmpty()) return new SendResult.Unreachable();
        if (!connections.tryAcquire(project))
            return new SendResult.HeldBack(
                    "the project uses its share of the connections of this node", PAUSE_OF_PROJECT);
        try {
            return send(webhookRequest, addresses, deadline);
        } finally {
            connections.release(project);
        }
    }

    private SendResult send(WebhookRequest webhookRequest, List<InetAddress> addresses, Deadline deadline)
            throws InterruptedException {
        SendResult result = new SendResult.Unreachable();
        for (InetAddress address : addresses.subList(0, Math.min(MAX_ADDRESSES, addresses.size()))) {
            result = send(webhookRequest, address, deadline);
            if (!(result instanceof SendResult.Unreachable)) return result;
            if (Thread.interrupted()) throw new InterruptedException("the delivery was interrupted");
        }
        return result;
    }

    private SendResult send(WebhookRequest webhookRequest, InetAddress address, Deadline deadline) {
        if (deadline.isOver()) return new SendResult.TimedOut();
        HttpUriRequestBase request = request(webhookRequest, deadline.remaining());
        TargetAddress target = webhookRequest.address();
        HttpHost host = new HttpHost(target.tls() ? "https" : "http", address, target.host(), target.port());
        Future<?> end = timeoutScheduler.schedule(
                () -> {
                    request.cancel();
                },
                deadline.remaining().toMillis(),
                TimeUnit.MILLISECONDS);
        boolean answered = false;
        try (ClassicHttpResponse response = client.executeOpen(host, request, null)) {
            answered = true;
            return read(response, request);
        } catch (IOException | RuntimeException failure) {
            if (deadline.isOver() || request.isCancelled()) return new SendResult.TimedOut();
            return failed(failure, answered);
        } finally {
            end.cancel(false);
        }
    }

    private static HttpUriRequestBase request(WebhookRequest webhookRequest, Duration left) {
        TargetAddress target = webhookRequest.address();
        HttpUriRequestBase request = new AddressedRequest(webhookRequest.method(), target);
        webhookRequest.headers().forEach(request::setHeader);
        if (webhookRequest.body().length > 0) request.setEntity(new ByteArrayEntity(webhookRequest.body(), null));
        Duration connect = webhookRequest.connectTimeout().compareTo(left) < 0 ? webhookRequest.connectTimeout() : left;
        request.setConfig(configured(request, connect, left));
        return request;
    }

    @SuppressWarnings("deprecation") // the replacement applies to all hosts, but each request has its own timeout
    private static RequestConfig configured(Configurable request, Duration connect, Duration left) {
        RequestConfig.Builder config =
                request.getConfig() == null ? RequestConfig.custom() : RequestConfig.copy(request.getConfig());
        return config.setConnectTimeout(Timeout.of(connect))
                .setConnectionRequestTimeout(Timeout.of(left))
                .setResponseTimeout(Timeout.of(left))
                .setRedirectsEnabled(false)
                .setAuthenticationEnabled(false)
                .setContentCompressionEnabled(false)
                .setProtocolUpgradeEnabled(false)
                .build();
    }

    private static SendResult read(ClassicHttpResponse response, HttpUriRequestBase request) throws IOException {
        byte[] bytes = new byte[MAX_READ_BYTES];
        int length = 0;
        HttpEntity entity = response.getEntity();
        if (entity != null) {
            InputStream in = entity.getContent();
            int more = 0;
            while (length < MAX_READ_BYTES && more >= 0) {
                more = in.read(bytes, length, MAX_READ_BYTES - length);
                if (more > 0) length += more;
            }
            // Closes the connection: unread bytes must not become the start of another response.
            if (more >= 0) request.cancel();
        }
        return new SendResult.Response(
                response.getCode(),
                ResponseExcerpt.headers(response.getHeaders()),
                ResponseExcerpt.body(bytes, length));
    }

    private static SendResult failed(Exception failure, boolean answered) {
        if (answered) return new SendResult.InvalidResponse("the response ended prematurely");
        if (failure instanceof SSLException)
            return new SendResult.InvalidResponse("TLS failed: invalid certificate or handshake");
        if (failure instanceof SocketTimeoutException && !(failure instanceof ConnectTimeoutException))
            return new SendResult.TimedOut();
        if (failure instanceof InterruptedIOException || failure instanceof java.net.ConnectException)
            return new SendResult.Unreachable();
        if (failure instanceof java.net.SocketException
                && !String.valueOf(failure.getMessage()).contains("reset")) return new SendResult.Unreachable();
        return new SendResult.InvalidResponse("no valid HTTP response");
    }

    @Override
    public void close() {
        timeoutScheduler.shutdownNow();
        lookups.close();
        try {
            client.close();
        } catch (IOException ignored) {
            // The client is not used again.
        }
    }

    /** A deadline on the monotonic clock. */
    private record Deadline(long nanos) {
        Deadline(Duration in) {
            this(System.nanoTime() + in.toNanos());
        }

        Duration remaining() {
            return Duration.ofNanos(Math.max(1_000_000, nanos - System.nanoTime()));
        }

        boolean isOver() {
            return nanos - System.nanoTime() <= 0;
        }
    }

    /**
     * Takes the request line and the Host header from the checked address instead of parsing the URL a second time.
     */
    private static final class AddressedRequest extends HttpUriRequestBase {
        private static final long serialVersionUID = 1L;

        AddressedRequest(String method, TargetAddress targetAddress) {
            super(method, java.net.URI.create("/"));
            setScheme(targetAddress.tls() ? "https" : "http");
            setAuthority(new org.apache.hc.core5.net.URIAuthority(targetAddress.host(), port(targetAddress)));
            setPath(targetAddress.path());
        }

        private static int port(TargetAddress target) {
            boolean usual = target.port() == (target.tls() ? 443 : 80);
            return usual ? -1 : target.port();
        }
    }
}
