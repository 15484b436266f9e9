package io.carillon.testkit;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** One client's connection through the proxy: two threads carry whole messages, each its own way. */
final class ProxiedConnection {
    private static final int CANCEL_REQUEST = 80877102;
    private static final int SSL_REQUEST = 80877103;
    private static final int GSS_REQUEST = 80877104;

    private final Socket client;
    private final Socket server;
    private final FaultProxy proxy;
    private final CommitWatch watch;
    private volatile boolean lostBytes;

    ProxiedConnection(Socket client, Socket server, FaultProxy proxy) {
        this.client = client;
        this.server = server;
        this.proxy = proxy;
        this.watch = new CommitWatch(proxy::ambush);
    }

    void start() {
        run("carillon-proxy-to-server", this::toServer);
        run("carillon-proxy-to-client", this::toClient);
    }

    /** Whether something that was sent here vanished: such a connection can never be whole again. */
    boolean lostBytes() {
        return lostBytes;
    }

    /** Resets both ends; what is under way is lost. */
    void cut() {
        for (Socket socket : List.of(client, server)) {
            try {
                socket.setSoLinger(true, 0);
            } catch (IOException e) {
                // Closed already.
            }
        }
        end();
    }

    private void end() {
        for (Socket socket : List.of(client, server)) {
            try {
                socket.close();
            } catch (IOException e) {
                // Closed already.
            }
        }
        proxy.ended(this);
    }

    /** One end is gone; the other learns of it unless the network loses even that. */
    private void closed() {
        if (proxy.loses()) lostBytes = true;
        else end();
    }

    private interface Way {
        void go() throws IOException, InterruptedException;
    }

    private void run(String name, Way way) {
        Thread thread = new Thread(
                () -> {
                    try {
                        way.go();
                    } catch (IOException | InterruptedException e) {
                        // One end closed its side.
                    } finally {
                        closed();
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
            List<Frame> burst = burst(in);
            burst.forEach(watch::fromClient);
            deliver(burst, out);
        }
    }

    /** Answers wishes for encryption with no, as the proxy must read along; true: this was a request to cancel, and is done. */
    private boolean startUp(DataInputStream in, OutputStream out) throws IOException, InterruptedException {
        while (true) {
            Frame first = Frame.readFirst(in);
            int code = first.firstInt();
            if (code != SSL_REQUEST && code != GSS_REQUEST) {
                deliver(List.of(first), out);
                return code == CANCEL_REQUEST;
            }
            if (proxy.passage()) client.getOutputStream().write('N');
            else lostBytes = true;
        }
    }

    private void toClient() throws IOException, InterruptedException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(server.getInputStream()));
        OutputStream out = new BufferedOutputStream(client.getOutputStream());
        while (true) {
            List<Frame> released = new ArrayList<>();
            for (Frame frame : burst(in)) {
                List<Frame> some = watch.fromServer(frame);
                if (some == null) {
                    proxy.struck();
                    cut();
                    return;
                }
                released.addAll(some);
            }
            deliver(released, out);
        }
    }

    /** Everything that has arrived, at least one message: what was sent together is delayed together. */
    private static List<Frame> burst(DataInputStream in) throws IOException {
        List<Frame> burst = new ArrayList<>();
        do burst.add(Frame.read(in));
        while (in.available() > 0);
        return burst;
    }

    private void deliver(List<Frame> frames, OutputStream out) throws IOException, InterruptedException {
        if (frames.isEmpty()) return;
        if (!proxy.passage()) {
            lostBytes = true;
            return;
        }
        for (Frame frame : frames) frame.writeTo(out);
        out.flush();
    }
}
