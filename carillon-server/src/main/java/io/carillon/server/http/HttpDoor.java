package io.carillon.server.http;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
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

/** The one place that knows Jetty: listens, hands requests to the {@link Front}, and writes its answers. */
public final class HttpDoor implements AutoCloseable {
    private static final int HEADER_BYTES = 16 * 1024;
    private static final long IDLE_MILLIS = 30_000;

    private static final int THREADS = 200;

    private final Server server;
    private final ServerConnector connector;

    /** Listens from now on; port 0 takes any that is free. */
    public HttpDoor(InetAddress address, int port, Front front) {
        QueuedThreadPool threads = new QueuedThreadPool(THREADS, 4, 60_000);
        threads.setName("carillon-http");
        threads.setDaemon(true);
        server = new Server(threads);
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setSendDateHeader(true);
        http.setRequestHeaderSize(HEADER_BYTES);
        connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
        connector.setHost(address.getHostAddress());
        connector.setPort(port);
        connector.setIdleTimeout(IDLE_MILLIS);
        server.addConnector(connector);
        server.setHandler(new Entrance(front));
        server.setErrorHandler(new Refusals());
        server.setStopTimeout(5_000);
        try {
            server.start();
        } catch (Exception failure) {
            stop();
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "Port %d on %s cannot be listened to: %s. Choose another with --listen."
                            .formatted(port, address.getHostAddress(), failure.getMessage()),
                    failure);
        }
    }

    /** The port it listens on. */
    public int port() {
        return connector.getLocalPort();
    }

    /** Takes no more requests, and waits a moment for those that are on their way. */
    @Override
    public void close() {
        stop();
    }

    private void stop() {
        try {
            server.stop();
        } catch (Exception already) {
            // It was told to stop; what it still holds ends with its threads, which are daemons.
        }
    }

    private static final class Entrance extends Handler.Abstract {
        private final Front front;

        Entrance(Front front) {
            this.front = front;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws IOException {
            Answer answer = front.serve(new Front.Incoming(
                    request.getMethod(),
                    String.valueOf(request.getHttpURI().getPath()),
                    request.getHttpURI().getQuery(),
                    headers(request.getHeaders()),
                    Request.getRemoteAddr(request),
                    Content.Source.asInputStream(request)));
            response.setStatus(answer.status());
            answer.headers().forEach(response.getHeaders()::put);
            // Who is refused before all of his body came is cut off by Jetty, and shall not try the connection again.
            if (!request.consumeAvailable()) response.getHeaders().put("Connection", "close");
            Answer.Streaming stream = answer.stream();
            if (stream == null) {
                response.write(true, ByteBuffer.wrap(answer.body()), callback);
                return true;
            }
            try (OutputStream out = Content.Sink.asOutputStream(response)) {
                stream.to(out);
            } catch (IOException gone) {
                // Nobody listens any more: that is how streams end.
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

    /** What Jetty refuses before anybody of ours sees it: a line, a header or a URL that is none. */
    private static final class Refusals extends ErrorHandler {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            // A version or a coding that it does not know is the sender's fault, not ours.
            boolean unknown = response.getStatus() == 501 || response.getStatus() == 505;
            int status = unknown
                    ? 400
                    : response.getStatus() < 400 || response.getStatus() > 500 ? 500 : response.getStatus();
            Problem problem = status == 500
                    ? Troubles.internal()
                    : Problem.of(status, "malformed-request", "This is not an HTTP request that can be answered.");
            Answer answer = problem.answer("none");
            response.setStatus(status);
            answer.headers().forEach(response.getHeaders()::put);
            // Jetty closes after such a request; whoever sent it shall not try the connection again.
            response.getHeaders().put("Connection", "close");
            response.write(true, ByteBuffer.wrap(answer.body()), callback);
            return true;
        }
    }
}
