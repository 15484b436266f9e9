package io.carillon.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.postgresql.ds.PGConnectionPoolDataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.ds.common.BaseDataSource;

/**
 * A network that breaks on command, between a client and a test database. It understands the protocol well enough to lose exactly the
 * acknowledgement of a commit. Thread-safe; encryption is declined, since the proxy reads along.
 */
public final class FaultProxy implements AutoCloseable {
    private static final int POOL_SIZE = 16;
    private static final int CONNECT_MILLIS = 5_000;

    private final TestDatabase database;
    private final InetSocketAddress target;
    private final ServerSocket door;
    private final SmallPool pool;
    private final Traffic traffic = new Traffic();
    private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicInteger strikes = new AtomicInteger();
    private volatile Ambush ambush = Ambush.none();
    private volatile boolean refusing;

    private FaultProxy(TestDatabase database, ServerSocket door) {
        PGSimpleDataSource direct = database.pointed(new PGSimpleDataSource());
        this.database = database;
        this.target = new InetSocketAddress(direct.getServerNames()[0], direct.getPortNumbers()[0]);
        this.door = door;
        this.pool = new SmallPool(pointed(new PGConnectionPoolDataSource()), POOL_SIZE);
    }

    /** Opens a proxy in front of a test database; everything passes until told otherwise. */
    public static FaultProxy before(TestDatabase database) {
        try {
            FaultProxy proxy = new FaultProxy(database, new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
            Thread thread = new Thread(proxy::accept, "carillon-proxy-door");
            thread.setDaemon(true);
            thread.start();
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException("The fault proxy found no free port on loopback", e);
        }
    }

    /** The address of the database by way of the proxy, without user and password. */
    public String jdbcUrl() {
        return pointed(new PGSimpleDataSource()).getURL();
    }

    /** Pooled connections by way of the proxy, at most sixteen at a time. */
    public DataSource dataSource() {
        return pool;
    }

    /** The network is whole again. What lost bytes meanwhile is cut, as no connection survives that. */
    public void pass() {
        ambush.callOff();
        refusing = false;
        traffic.flow();
        connections.stream().filter(ProxiedConnection::lostBytes).forEach(ProxiedConnection::cut);
    }

    /** Every burst of bytes takes this much longer, both ways. */
    public void delay(Duration by) {
        traffic.slow(by);
    }

    /** Nothing moves; what is sent meanwhile arrives after {@link #pass()}. */
    public void stall() {
        traffic.stall();
    }

    /** Connections stay open, but every byte vanishes: neither side learns that the other is gone. New connections fare the same. */
    public void halfOpen() {
        traffic.lose();
    }

    /** Resets every connection now; new ones pass. Returns how many were cut. */
    public int cut() {
        Set<ProxiedConnection> open = Set.copyOf(connections);
        open.forEach(ProxiedConnection::cut);
        return open.size();
    }

    /** New connections are turned away; those that are open go on. */
    public void refuse() {
        refusing = true;
    }

    /**
     * Loses acknowledgements: whenever a statement of this text was committed (by itself, or by the COMMIT of its transaction), the client's connection
     * is reset in place of the answer. Holds until {@link #pass()}.
     */
    public void cutAfterCommit(Predicate<String> statement) {
        cutAfterCommit(statement, Integer.MAX_VALUE);
    }

    /** The same for so many commits; after that they are answered again. */
    public void cutAfterCommit(Predicate<String> statement, int times) {
        ambush.callOff();
        ambush = new Ambush(statement, times);
    }

    /**
     * Kills what works through this proxy, as far as the database can tell, right after its next claim of a run committed: the answer is lost, so that no
     * handler starts, every connection is reset, and no new one is let in. There are no more beats, no results and nothing is handed back. Holds until
     * {@link #pass()}; close the dead node before.
     */
    public void killAfterClaim() {
        ambush.callOff();
        ambush = Ambush.afterClaim();
    }

    /** How many acknowledgements were lost so far. */
    public int strikes() {
        return strikes.get();
    }

    /** How many connections are open through the proxy. */
    public int connections() {
        return connections.size();
    }

    @Override
    public void close() {
        try {
            door.close();
        } catch (IOException e) {
            throw new UncheckedIOException("The fault proxy's port did not close", e);
        }
        traffic.flow();
        cut();
        pool.close();
    }

    Ambush ambush() {
        return ambush;
    }

    boolean passage() throws InterruptedException {
        return traffic.passage();
    }

    boolean loses() {
        return traffic.loses();
    }

    void struck() {
        if (ambush.deadly()) {
            refuse();
            cut();
        }
        strikes.incrementAndGet();
    }

    void ended(ProxiedConnection connection) {
        connections.remove(connection);
    }

    private void accept() {
        while (!door.isClosed()) {
            try {
                connect(door.accept());
            } catch (IOException e) {
                // The door was closed, or one client was gone before it was let in.
            }
        }
    }

    private void connect(Socket client) throws IOException {
        Socket server = new Socket();
        ProxiedConnection connection = new ProxiedConnection(client, server, this);
        try {
            if (refusing) throw new IOException("refused");
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            server.connect(target, CONNECT_MILLIS);
            connections.add(connection);
            // Refused meanwhile: whoever cuts all that are open may have missed this one.
            if (refusing) throw new IOException("refused");
            connection.start();
        } catch (IOException e) {
            connection.cut();
        }
    }

    private <T extends BaseDataSource> T pointed(T dataSource) {
        database.pointed(dataSource);
        dataSource.setServerNames(new String[] {door.getInetAddress().getHostAddress()});
        dataSource.setPortNumbers(new int[] {door.getLocalPort()});
        return dataSource;
    }
}
