package io.carillon.webhook;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Listens where nobody may connect to. Connections queue up in order: if the first one to be accepted is our own, there was no other. */
public final class Canary implements AutoCloseable {
    private final ServerSocket socket;

    /** On all addresses of this machine. */
    public Canary() throws IOException {
        this(null, 0);
    }

    public Canary(InetAddress address, int port) throws IOException {
        socket = new ServerSocket(port, 100, address);
    }

    public int port() {
        return socket.getLocalPort();
    }

    /** Whether nobody has connected since it was asked last. */
    public boolean untouched() {
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
