package io.carillon.bench.http;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Map;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Jetty with the settings of the product and one handler, which reads the body, runs an action, and answers 201 with as
 * many bytes as the product.
 */
public final class BareServer implements AutoCloseable {
    private static final Map<String, String> HEADERS = Map.of(
            "Content-Type",
            "application/json",
            "X-Request-Id",
            "req_01m7fa4qfbe01964w8h2zr6k5t",
            "X-Content-Type-Options",
            "nosniff",
            "Cache-Control",
            "no-store");

    private final Server server;
    private final ServerConnector connector;

    /** The action between reading the body and answering. */
    @FunctionalInterface
    public interface BodyAction {
        void run(byte[] body) throws Exception;
    }

    /** Listens on a free port of the loopback address. */
    public BareServer(byte[] answer, BodyAction action) throws Exception {
        QueuedThreadPool threads = new QueuedThreadPool(100, 4, 60_000);
        threads.setDaemon(true);
        server = new Server(threads);
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
        connector.setHost(InetAddress.getLoopbackAddress().getHostAddress());
        server.addConnector(connector);
        server.setHandler(new FixedResponseHandler(answer, action));
        server.start();
    }

    public int port() {
        return connector.getLocalPort();
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception already) {
            // The threads of Jetty are daemons and end with the benchmark.
        }
    }

    private static final class FixedResponseHandler extends Handler.Abstract {
        private final byte[] answer;
        private final BodyAction action;

        FixedResponseHandler(byte[] answer, BodyAction action) {
            this.answer = answer.clone();
            this.action = action;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            action.run(Content.Source.asInputStream(request).readAllBytes());
            response.setStatus(201);
            HEADERS.forEach(response.getHeaders()::put);
            response.write(true, ByteBuffer.wrap(answer), callback);
            return true;
        }
    }
}
