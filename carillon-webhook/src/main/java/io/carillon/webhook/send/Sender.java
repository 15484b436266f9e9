package io.carillon.webhook.send;

import io.carillon.webhook.guard.Endpoint;
import io.carillon.webhook.guard.Guard;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
 * Sends one request to an address the guard admitted, and reads a bounded answer. All of it, names included, ends at the message's timeout, however slowly the
 * other side goes. Thread-safe.
 */
public final class Sender implements AutoCloseable {
    /** More is not read: the connection is closed instead. */
    private static final int MOST_READ = 64 * 1024;
    /** So many addresses of a name are tried when one does not answer. */
    private static final int ADDRESSES = 3;

    private final Guard guard;
    private final CloseableHttpClient client;
    private final ScheduledExecutorService alarm = Threads.alarm();
    private final ExecutorService resolvers = Threads.resolvers();

    public Sender(Guard guard, SSLContext tls) {
        this.guard = guard;
        this.client = Client.with(tls);
    }

    /** Sends it once. */
    public Answer send(Message message) throws InterruptedException {
        Deadline deadline = new Deadline(message.timeout());
        List<InetAddress> addresses;
        try {
            addresses = admitted(message.endpoint(), deadline);
        } catch (TimeoutException slow) {
            return new Answer.TimedOut();
        }
        Answer answer = new Answer.Unreachable();
        for (InetAddress address : addresses.subList(0, Math.min(ADDRESSES, addresses.size()))) {
            answer = send(message, address, deadline);
            if (!(answer instanceof Answer.Unreachable)) return answer;
            if (Thread.interrupted()) throw new InterruptedException("the delivery was stopped");
        }
        return answer;
    }

    /** On a thread of its own, because a name server that does not answer would hold this one longer than it has time. */
    private List<InetAddress> admitted(Endpoint endpoint, Deadline deadline)
            throws InterruptedException, TimeoutException {
        Future<List<InetAddress>> admitted;
        try {
            admitted = resolvers.submit(() -> guard.admit(endpoint));
        } catch (RejectedExecutionException allHang) {
            throw new TimeoutException("names cannot be resolved");
        }
        try {
            return admitted.get(deadline.left().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException broken) {
            throw new IllegalStateException("the guard failed", broken.getCause());
        } finally {
            admitted.cancel(true);
        }
    }

    private Answer send(Message message, InetAddress address, Deadline deadline) {
        if (deadline.over()) return new Answer.TimedOut();
        HttpUriRequestBase request = request(message, deadline.left());
        Endpoint endpoint = message.endpoint();
        HttpHost host = new HttpHost(endpoint.tls() ? "https" : "http", address, endpoint.host(), endpoint.port());
        Future<?> end = alarm.schedule(
                () -> {
                    request.cancel();
                },
                deadline.left().toMillis(),
                TimeUnit.MILLISECONDS);
        boolean answered = false;
        try (ClassicHttpResponse response = client.executeOpen(host, request, null)) {
            answered = true;
            return read(response, request);
        } catch (IOException | RuntimeException failure) {
            if (deadline.over() || request.isCancelled()) return new Answer.TimedOut();
            return failed(failure, answered);
        } finally {
            end.cancel(false);
        }
    }

    private static HttpUriRequestBase request(Message message, Duration left) {
        Endpoint endpoint = message.endpoint();
        HttpUriRequestBase request = new Request(message.method(), endpoint);
        message.headers().forEach(request::setHeader);
        if (message.body().length > 0) request.setEntity(new ByteArrayEntity(message.body(), null));
        Duration connect = message.connectTimeout().compareTo(left) < 0 ? message.connectTimeout() : left;
        request.setConfig(configured(request, connect, left));
        return request;
    }

    @SuppressWarnings("deprecation") // the replacement is one for all hosts, and this one is the message's own
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

    private static Answer read(ClassicHttpResponse response, HttpUriRequestBase request) throws IOException {
        byte[] bytes = new byte[MOST_READ];
        int length = 0;
        HttpEntity entity = response.getEntity();
        if (entity != null) {
            InputStream in = entity.getContent();
            int more = 0;
            while (length < MOST_READ && more >= 0) {
                more = in.read(bytes, length, MOST_READ - length);
                if (more > 0) length += more;
            }
            // What is left unread must not become the start of another answer.
            if (more >= 0) request.cancel();
        }
        return new Answer.Response(response.getCode(), Kept.headers(response.getHeaders()), Kept.body(bytes, length));
    }

    private static Answer failed(Exception failure, boolean answered) {
        if (answered) return new Answer.Broken("the answer broke off");
        if (failure instanceof SSLException) return new Answer.Broken("TLS failed: the certificate or the handshake");
        if (failure instanceof SocketTimeoutException && !(failure instanceof ConnectTimeoutException))
            return new Answer.TimedOut();
        if (failure instanceof InterruptedIOException || failure instanceof java.net.ConnectException)
            return new Answer.Unreachable();
        if (failure instanceof java.net.SocketException
                && !String.valueOf(failure.getMessage()).contains("reset")) return new Answer.Unreachable();
        return new Answer.Broken("no valid HTTP answer");
    }

    @Override
    public void close() {
        alarm.shutdownNow();
        resolvers.shutdownNow();
        try {
            client.close();
        } catch (IOException ignored) {
            // Nothing of it is needed any more.
        }
    }

    /** Monotonic. */
    private record Deadline(long nanos) {
        Deadline(Duration in) {
            this(System.nanoTime() + in.toNanos());
        }

        Duration left() {
            return Duration.ofNanos(Math.max(1_000_000, nanos - System.nanoTime()));
        }

        boolean over() {
            return nanos - System.nanoTime() <= 0;
        }
    }

    /** The request line and the Host header come from the endpoint, not from a second reading of the URL. */
    private static final class Request extends HttpUriRequestBase {
        private static final long serialVersionUID = 1L;

        Request(String method, Endpoint endpoint) {
            super(method, java.net.URI.create("/"));
            setScheme(endpoint.tls() ? "https" : "http");
            setAuthority(new org.apache.hc.core5.net.URIAuthority(endpoint.host(), port(endpoint)));
            setPath(endpoint.path());
        }

        private static int port(Endpoint endpoint) {
            boolean usual = endpoint.port() == (endpoint.tls() ? 443 : 80);
            return usual ? -1 : endpoint.port();
        }
    }
}
