package io.carillon.webhook;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * A listener that detects forbidden connections. Connections are accepted in order: if the first accepted one is the
 * detector's own, there was no other.
 */
public final class ConnectionDetector implements AutoCloseable {
    private final ServerSocket socket;

    /** Listens on all addresses of this machine. */
    public ConnectionDetector() throws IOException {
        this(null, 0);
    }

    public ConnectionDetector(InetAddress address, int port) throws IOException {
        socket = new ServerSocket(port, 100, address);
    }

    public int port() {
        return socket.getLocalPort();
    }

    /** Returns whether there was no connection since the previous call. */
    public boolean hasNoConnection() {
        InetAddress to = socket.getInetAddress().isAnyLocalAddress()
                ? InetAddress.getLoopbackAddress()
                : socket.getInetAddress();
        try (Socket own = new Socket(to, port())) {
            boolean first = true;
            while (true) {
                try (Socket next = socket.accept()) {
                    if (next.getPort() == own.getLocalPort()) return first;
                    first = false;
                }
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
