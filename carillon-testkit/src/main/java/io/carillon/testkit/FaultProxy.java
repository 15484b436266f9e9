package io.carillon.testkit;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.testkit.internal.proxy.FaultPoint;
import io.carillon.testkit.internal.proxy.NetworkConditions;
import io.carillon.testkit.internal.server.SmallPool;
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
 * A proxy between a client and a test database that breaks the network on command. It understands the PostgreSQL
 * protocol well enough to lose exactly the acknowledgement of a commit. It declines encryption because it reads the
 * messages. Thread-safe.
 */
public final class FaultProxy implements AutoCloseable {
    private static final int POOL_SIZE = 16;
    private static final int CONNECT_MILLIS = 5_000;

    private final TestDatabase database;
    private final InetSocketAddress target;
    private final ServerSocket serverSocket;
    private final SmallPool pool;
    private final NetworkConditions network = new NetworkConditions();
    private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicInteger lostAcknowledgements = new AtomicInteger();
    private volatile FaultPoint faultPoint = FaultPoint.none();
    private volatile boolean refusing;

    private FaultProxy(TestDatabase database, ServerSocket serverSocket) {
        PGSimpleDataSource direct = database.configure(new PGSimpleDataSource());
        this.database = database;
        this.target = new InetSocketAddress(direct.getServerNames()[0], direct.getPortNumbers()[0]);
        this.serverSocket = serverSocket;
        this.pool = new SmallPool(configure(new PGConnectionPoolDataSource()), POOL_SIZE);
    }

    /** Opens a proxy in front of a test database. The proxy forwards everything until a fault is configured. */
    public static FaultProxy inFrontOf(TestDatabase database) {
        try {
            FaultProxy proxy = new FaultProxy(database, new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
            Thread thread = new Thread(proxy::accept, "carillon-proxy-accept");
            thread.setDaemon(true);
            thread.start();
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException("could not open a port for the fault proxy on the loopback address", e);
        }
    }

    /** Returns the JDBC URL of the database through the proxy, without user and password. */
    public String jdbcUrl() {
        return configure(new PGSimpleDataSource()).getURL();
    }

    /** Returns a pool of at most 16 connections through the proxy. */
    public DataSource dataSource() {
        return pool;
    }

    /** Ends all faults. Connections that have lost bytes are reset, because they cannot continue. */
    public void restore() {
        faultPoint.disarm();
        refusing = false;
        network.restore();
        connections.stream().filter(ProxiedConnection::hasLostBytes).forEach(ProxiedConnection::reset);
    }

    /** Delays all bytes by this duration, in both directions. */
    public void delay(Duration by) {
        network.delay(by);
    }

    /** Stops all bytes. Bytes sent meanwhile arrive after {@link #restore()}. */
    public void stall() {
        network.stall();
    }

    /**
     * Drops all bytes while the connections stay open, so that neither side notices that the other is unreachable.
     * Applies to new connections too.
     */
    public void halfOpen() {
        network.drop();
    }

    /** Resets all open connections; new connections are accepted. Returns how many were reset. */
    public int resetConnections() {
        Set<ProxiedConnection> open = Set.copyOf(connections);
        open.forEach(ProxiedConnection::reset);
        return open.size();
    }

    /** Rejects new connections; open connections continue. */
    public void refuseConnections() {
        refusing = true;
    }

    /**
     * Loses acknowledgements: when a matching statement has been committed, by autocommit or by the COMMIT of its
     * transaction, the proxy resets the client's connection instead of forwarding the response. Applies until
     * {@link #restore()}.
     */
    public void resetAfterCommit(Predicate<String> statement) {
        resetAfterCommit(statement, Integer.MAX_VALUE);
    }

    /** Like {@link #resetAfterCommit(Predicate)}, for the given number of commits. Later commits are acknowledged. */
    public void resetAfterCommit(Predicate<String> statement, int times) {
        faultPoint.disarm();
        faultPoint = new FaultPoint(statement, times);
    }

    /**
     * Simulates the death of a node immediately after its next claim is committed. The response of the claim is lost,
     * so that no handler starts. All connections are reset and new ones are rejected, so that the database receives no
     * heartbeat, no result and no release. Applies until {@link #restore()}; close the dead node before.
     */
    public void killAfterClaim() {
        faultPoint.disarm();
        faultPoint = FaultPoint.afterClaim();
    }

    /**
     * Simulates the death of a node immediately after it recorded this many steps of workflows, counted from now. The
     * code of the next step is not called on this node. Otherwise like {@link #killAfterClaim()}.
     *
     * @param steps from 1; sleeps count too, and steps that are recorded together count once
     */
    public void killAfterSteps(int steps) {
        if (steps < 1)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION, "steps must be at least 1 (was %d).".formatted(steps));
        faultPoint.disarm();
        faultPoint = FaultPoint.afterSteps(steps);
    }

    /** Returns how many acknowledgements have been lost. */
    public int lostAcknowledgements() {
        return lostAcknowledgements.get();
    }

    /** Returns how many connections are open through the proxy. */
    public int connections() {
        return connections.size();
    }

    @Override
    public void close() {
        try {
            serverSocket.close();
        } catch (IOException e) {
            throw new UncheckedIOException("could not close the port of the fault proxy", e);
        }
        network.restore();
        resetConnections();
        pool.close();
    }

    FaultPoint faultPoint() {
        return faultPoint;
    }

    boolean awaitDelivery() throws InterruptedException {
        return network.awaitDelivery();
    }

    boolean dropsBytes() {
        return network.dropsBytes();
    }

    void onFaultTriggered() {
        if (faultPoint.killsNode()) {
            refuseConnections();
            resetConnections();
        }
        lostAcknowledgements.incrementAndGet();
    }

    void onConnectionEnded(ProxiedConnection connection) {
        connections.remove(connection);
    }

    private void accept() {
        while (!serverSocket.isClosed()) {
            try {
                connect(serverSocket.accept());
            } catch (IOException e) {
                // The proxy was closed, or the client disconnected before it was accepted.
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
            // Checked again: a concurrent reset of all open connections may have missed this connection.
            if (refusing) throw new IOException("refused");
            connection.start();
        } catch (IOException e) {
            connection.reset();
        }
    }

    private <T extends BaseDataSource> T configure(T dataSource) {
        database.configure(dataSource);
        dataSource.setServerNames(new String[] {serverSocket.getInetAddress().getHostAddress()});
        dataSource.setPortNumbers(new int[] {serverSocket.getLocalPort()});
        return dataSource;
    }
}
