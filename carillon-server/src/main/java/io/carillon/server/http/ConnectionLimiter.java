package io.carillon.server.http;

import io.carillon.internal.value.ControlCharacters;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.io.Connection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Closes connections beyond a number for each client address, or beyond a total number. */
final class ConnectionLimiter implements Connection.Listener {
    static final int TOTAL = 4_096;

    private static final Logger log = LoggerFactory.getLogger(ConnectionLimiter.class);
    private static final long LOG_INTERVAL_NANOS = Duration.ofMinutes(1).toNanos();

    private final int perAddress;
    private final Map<String, Integer> byAddress = new ConcurrentHashMap<>();
    /** A closed connection no longer knows its address. */
    private final Map<Connection, String> addresses = new ConcurrentHashMap<>();

    private final AtomicInteger total = new AtomicInteger();
    private final AtomicLong loggedNanos = new AtomicLong(System.nanoTime() - LOG_INTERVAL_NANOS);

    /**
     * Creates a limiter.
     *
     * @param perAddress the maximum number of connections from one address; 0 means no limit
     */
    ConnectionLimiter(int perAddress) {
        this.perAddress = perAddress;
    }

    @Override
    public void onOpened(Connection connection) {
        String address = address(connection.getEndPoint().getRemoteSocketAddress());
        addresses.put(connection, address);
        int here = byAddress.merge(address, 1, Integer::sum);
        int all = total.incrementAndGet();
        if ((perAddress == 0 || here <= perAddress) && all <= TOTAL) return;
        logRefusal(address, here, all);
        connection.getEndPoint().close();
    }

    @Override
    public void onClosed(Connection connection) {
        String address = addresses.remove(connection);
        if (address == null) return;
        total.decrementAndGet();
        byAddress.computeIfPresent(address, (name, count) -> count == 1 ? null : count - 1);
    }

    /** Logs at most one refusal a minute: a client that floods the server must not flood its log as well. */
    private void logRefusal(String address, int here, int all) {
        long now = System.nanoTime();
        long before = loggedNanos.get();
        if (now - before >= LOG_INTERVAL_NANOS && loggedNanos.compareAndSet(before, now))
            log.warn(
                    "connection refused: too many connections address={} open={} limit={} total={} totalLimit={}",
                    ControlCharacters.escape(address),
                    here,
                    perAddress,
                    all,
                    TOTAL);
    }

    /** Returns the address as text. One client can use a whole IPv6 network of 64 bits, which counts as one address. */
    static String address(@Nullable SocketAddress socket) {
        InetAddress address = socket instanceof InetSocketAddress inet ? inet.getAddress() : null;
        if (address instanceof Inet6Address six) return Arrays.toString(Arrays.copyOf(six.getAddress(), 8));
        return address == null ? "unknown" : address.getHostAddress();
    }
}
