package io.carillon.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Finds ports nobody listens on. */
final class Ports {
    // Below the ports that systems lend to outgoing connections: a client that retries while the server restarts could
    // otherwise be lent the server's own port, and connect to itself.
    private static final int FIRST = 15_000;
    private static final int LAST = 31_999;
    private static final int TRIES = 200;

    private Ports() {}

    /** Free at this moment; somebody else may still be faster. */
    static int free() {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST + 1);
            if (isFree(port)) return port;
        }
        throw new EmbeddedPostgresException(
                "No free port was found on 127.0.0.1 between %d and %d. Name one with port(…).".formatted(FIRST, LAST));
    }

    private static boolean isFree(int port) {
        try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
            return probe.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
