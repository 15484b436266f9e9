package io.carillon.testkit;

import io.carillon.testkit.internal.proxy.CommitInterceptor;
import io.carillon.testkit.internal.proxy.ProtocolMessage;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** One client connection through the proxy. Two threads forward whole messages, one in each direction. */
final class ProxiedConnection {
    private static final int CANCEL_REQUEST = 80877102;
    private static final int SSL_REQUEST = 80877103;
    private static final int GSS_REQUEST = 80877104;

    private final Socket client;
    private final Socket server;
    private final FaultProxy proxy;
    private final CommitInterceptor interceptor;
    private volatile boolean lostBytes;

    ProxiedConnection(Socket client, Socket server, FaultProxy proxy) {
        this.client = client;
        this.server = server;
        this.proxy = proxy;
        this.interceptor = new CommitInterceptor(proxy::faultPoint);
    }

    void start() {
        run("carillon-proxy-to-server", this::toServer);
        run("carillon-proxy-to-client", this::toClient);
    }

    /** Returns whether bytes of this connection were dropped. Such a connection cannot continue. */
    boolean hasLostBytes() {
        return lostBytes;
    }

    /** Resets both sides. Bytes in transit are lost. */
    void reset() {
        for (Socket socket : List.of(client, server)) {
            try {
                socket.setSoLinger(true, 0);
            } catch (IOException e) {
                // Already closed.
            }
        }
        end();
    }

    private void end() {
        for (Socket socket : List.of(client, server)) {
            try {
                socket.close();
            } catch (IOException e) {
                // Already closed.
            }
        }
        proxy.onConnectionEnded(this);
    }

    /** Closes the other side after one side was closed, unless the network drops bytes. */
    private void onClosed() {
        if (proxy.dropsBytes()) lostBytes = true;
        else end();
    }

    private interface Transfer {
        void run() throws IOException, InterruptedException;
    }

    private void run(String name, Transfer transfer) {
        Thread thread = new Thread(
                () -> {
                    try {
                        transfer.run();
                    } catch (IOException | InterruptedException e) {
                        // One side closed the connection.
                    } finally {
                        onClosed();
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    private void toServer() throws IOException, InterruptedException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(client.getInputStream()));
        OutputStream out = new BufferedOutputStream(server.getOutputStream());
        if (startUp(in, out)) return;
        while (true) {
            List<ProtocolMessage> burst = burst(in);
            burst.forEach(interceptor::onClientMessage);
            deliver(burst, out);
        }
    }

    /**
     * Handles the start-up messages. Declines encryption, because the proxy must read the messages. Returns true if
     * this was a cancel request, which needs no further messages.
     */
    private boolean startUp(DataInputStream in, OutputStream out) throws IOException, InterruptedException {
        while (true) {
            ProtocolMessage first = ProtocolMessage.readFirst(in);
            int code = first.firstInt();
            if (code != SSL_REQUEST && code != GSS_REQUEST) {
                deliver(List.of(first), out);
                return code == CANCEL_REQUEST;
            }
            if (proxy.awaitDelivery()) client.getOutputStream().write('N');
            else lostBytes = true;
        }
    }

    private void toClient() throws IOException, InterruptedException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(server.getInputStream()));
        OutputStream out = new BufferedOutputStream(client.getOutputStream());
        while (true) {
            List<ProtocolMessage> released = new ArrayList<>();
            for (ProtocolMessage protocolMessage : burst(in)) {
                List<ProtocolMessage> some = interceptor.onServerMessage(protocolMessage);
                if (some == null) {
                    proxy.onFaultTriggered();
                    reset();
                    return;
                }
                released.addAll(some);
            }
            deliver(released, out);
        }
    }

    /** Reads all messages that have arrived, at least one. Messages that were sent together are delayed together. */
    private static List<ProtocolMessage> burst(DataInputStream in) throws IOException {
        List<ProtocolMessage> burst = new ArrayList<>();
        do burst.add(ProtocolMessage.read(in));
        while (in.available() > 0);
        return burst;
    }

    private void deliver(List<ProtocolMessage> messages, OutputStream out) throws IOException, InterruptedException {
        if (messages.isEmpty()) return;
        if (!proxy.awaitDelivery()) {
            lostBytes = true;
            return;
        }
        for (ProtocolMessage protocolMessage : messages) protocolMessage.writeTo(out);
        out.flush();
    }
}
