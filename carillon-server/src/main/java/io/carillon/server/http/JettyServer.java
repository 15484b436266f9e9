package io.carillon.server.http;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.io.Content;
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
 * The Jetty server: passes requests to the {@link RequestDispatcher} and writes its responses. No other
 * class uses Jetty.
 */
public final class JettyServer implements AutoCloseable {
    private static final int HEADER_BYTES = 16 * 1024;
    private static final long IDLE_MILLIS = 30_000;

    private static final int THREADS = 200;

    private final Server server;
    private final ServerConnector connector;

    /** Starts to listen; port 0 selects a free port. */
    public JettyServer(InetAddress address, int port, RequestDispatcher dispatcher) {
        QueuedThreadPool threads = new QueuedThreadPool(THREADS, 4, 60_000);
        threads.setName("carillon-http");
        threads.setDaemon(true);
        server = new Server(threads);
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setSendDateHeader(true);
        http.setRequestHeaderSize(HEADER_BYTES);
        // A proxy and a server that disagree about the end of a line can be made to disagree about the end of a request.
        http.setHttpCompliance(HttpCompliance.STRICT);
        connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
        connector.setHost(address.getHostAddress());
        connector.setPort(port);
        connector.setIdleTimeout(IDLE_MILLIS);
        server.addConnector(connector);
        server.setHandler(new RequestHandler(dispatcher));
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
        try {
            server.stop();
        } catch (Exception already) {
            // The remaining threads are daemons, so they end with the process.
        }
    }

    private static final class RequestHandler extends Handler.Abstract {
        private final RequestDispatcher dispatcher;

        RequestHandler(RequestDispatcher dispatcher) {
            this.dispatcher = dispatcher;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws IOException {
            ApiResponse apiResponse = dispatcher.dispatch(new RequestDispatcher.RawRequest(
                    request.getMethod(),
                    String.valueOf(request.getHttpURI().getPath()),
                    request.getHttpURI().getQuery(),
                    headers(request.getHeaders()),
                    Request.getRemoteAddr(request),
                    Content.Source.asInputStream(request)));
            response.setStatus(apiResponse.status());
            apiResponse.headers().forEach(response.getHeaders()::put);
            // Jetty closes the connection when a request is rejected before its body was read; the header says so, so
            // that the client does not reuse the connection.
            if (!request.consumeAvailable()) response.getHeaders().put("Connection", "close");
            ApiResponse.Streaming stream = apiResponse.stream();
            if (stream == null) {
                response.write(true, ByteBuffer.wrap(apiResponse.body()), callback);
                return true;
            }
            try (OutputStream out = Content.Sink.asOutputStream(response)) {
                stream.writeTo(out);
            } catch (IOException gone) {
                // The client closed the connection: streams normally end this way.
            }
            callback.succeeded();
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
            ApiResponse apiResponse = problem.toResponse("none");
            response.setStatus(status);
            apiResponse.headers().forEach(response.getHeaders()::put);
            // Jetty closes the connection after such a request; the client must not reuse it.
            response.getHeaders().put("Connection", "close");
            response.write(true, ByteBuffer.wrap(apiResponse.body()), callback);
            return true;
        }
    }
}
