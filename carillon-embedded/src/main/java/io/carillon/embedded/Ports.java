package io.carillon.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds free ports. */
final class Ports {
    // Below the range that operating systems use for outgoing connections. Otherwise a client that reconnects while the
    // server restarts could be assigned the port of the server and connect to itself.
    private static final int FIRST = 15_000;
    private static final int LAST = 31_999;
    private static final int MAX_TRIES = 200;

    private Ports() {}

    /** Returns a port that is free at this moment. Another process may take it before it is used. */
    static int free() {
        for (int i = 0; i < MAX_TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST + 1);
            if (isFree(port)) return port;
        }
        throw new EmbeddedPostgresException(
                "No free port was found on 127.0.0.1 between %d and %d. Set one with port(…).".formatted(FIRST, LAST));
    }

    private static boolean isFree(int port) {
        try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
            return probe.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
