package io.carillon.server.http;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * The Jetty server: listens, limits connections, and passes each request as an {@link HttpExchange} to the {@link
 * RequestDispatcher}.
 */
public final class JettyServer implements AutoCloseable {
    private static final int HEADER_BYTES = 16 * 1024;
    private static final long IDLE_MILLIS = 30_000;

    private static final int THREADS = 200;
    private final Server server;
    private final StreamWriters streams;
    private final ServerConnector connector;

    /**
     * What clients may use.
     *
     * @param connectionsPerAddress the maximum number of connections from one address; 0 means no limit
     * @param bodyGrace the time that a body may take at any rate; a longer one must keep a minimum rate
     */
    public record Limits(int connectionsPerAddress, Duration bodyGrace) {}

    /**
     * Starts to listen; port 0 selects a free port.
     *
     * @param streamThreads send event streams; this server ends them
     */
    public JettyServer(
            InetAddress address,
            int port,
            Limits limits,
            ScheduledExecutorService streamThreads,
            RequestDispatcher dispatcher) {
        streams = new StreamWriters(streamThreads);
        QueuedThreadPool threads = new QueuedThreadPool(THREADS, 4, 60_000);
        threads.setName("carillon-http");
        threads.setDaemon(true);
        server = new Server(threads);
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setSendDateHeader(true);
        http.setRequestHeaderSize(HEADER_BYTES);
        // A proxy and a server that disagree about the end of a line can be made to disagree about the end of a
        // request.
        http.setHttpCompliance(HttpCompliance.STRICT);
        // Jetty keeps headers of earlier requests of a connection and would compare values without case: a session
        // cookie that begins like an earlier one, apart from case, would be read wrongly.
        http.setHeaderCacheCaseSensitive(true);
        connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
        connector.setHost(address.getHostAddress());
        connector.setPort(port);
        connector.setIdleTimeout(IDLE_MILLIS);
        connector.addBean(new ConnectionLimiter(limits.connectionsPerAddress()));
        server.addConnector(connector);
        server.setHandler(new RequestHandler(dispatcher, limits, streams));
        server.setErrorHandler(new MalformedRequestHandler());
        server.setStopTimeout(5_000);
        try {
            server.start();
        } catch (Exception failure) {
            stop();
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Cannot listen on port %d of %s: %s. Choose another address or port with --listen."
                            .formatted(port, address.getHostAddress(), failure.getMessage()),
                    failure);
        }
    }

    /** Returns the port that the server listens on. */
    public int port() {
        return connector.getLocalPort();
    }

    /** Stops accepting requests and waits up to 5 seconds for those in progress. */
    @Override
    public void close() {
        stop();
    }

    private void stop() {
        streams.close();
        try {
            server.stop();
        } catch (Exception already) {
            // The remaining threads are daemons, so they end with the process.
        }
    }

    private static final class RequestHandler extends Handler.Abstract {
        private final RequestDispatcher dispatcher;
        private final Limits limits;
        private final StreamWriters streams;

        RequestHandler(RequestDispatcher dispatcher, Limits limits, StreamWriters streams) {
            this.dispatcher = dispatcher;
            this.limits = limits;
            this.streams = streams;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            RequestDispatcher.PendingRequest pending = dispatcher.accept(new RequestDispatcher.RawRequest(
                    request.getMethod(),
                    String.valueOf(request.getHttpURI().getPath()),
                    request.getHttpURI().getQuery(),
                    headers(request.getHeaders()),
                    Request.getRemoteAddr(request)));
            new HttpExchange(dispatcher, pending, limits, streams, request, response, callback).start();
            return true;
        }

        private static Map<String, String> headers(HttpFields fields) {
            Map<String, String> all = new HashMap<>();
            for (HttpField field : fields)
                all.merge(
                        field.getName().toLowerCase(Locale.ROOT),
                        String.valueOf(field.getValue()),
                        (one, other) -> one + ", " + other);
            return all;
        }
    }

    /**
     * Answers requests that Jetty rejects before the dispatcher sees them: a malformed request line, header or URL.
     */
    private static final class MalformedRequestHandler extends ErrorHandler {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            // An unknown HTTP version or transfer coding is an error of the client, not of the server.
            boolean unknown = response.getStatus() == 501 || response.getStatus() == 505;
            int status = unknown
                    ? 400
                    : response.getStatus() < 400 || response.getStatus() > 500 ? 500 : response.getStatus();
            Problem problem = status == 500
                    ? ErrorMapping.internal()
                    : Problem.of(
                            status,
                            "malformed-request",
                            "The request is not valid HTTP/1.1, or its URL or headers are too long.");
            ApiResponse apiResponse = problem.toResponse("none").withSecurityHeaders();
            response.setStatus(status);
            apiResponse.headers().forEach(response.getHeaders()::put);
            // Jetty closes the connection after such a request; the client must not reuse it.
            response.getHeaders().put("Connection", "close");
            response.write(true, ByteBuffer.wrap(apiResponse.body()), callback);
            return true;
        }
    }
}
