package io.carillon.bench.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;

/** A database of the server, dropped by {@link #close}. */
public final class BenchDatabase implements AutoCloseable {
    private final BenchServer server;
    private final String name;

    BenchDatabase(BenchServer server, String name) {
        this.server = server;
        this.name = name;
    }

    public Connection connect() throws SQLException {
        return server.connect(name);
    }

    public String name() {
        return name;
    }

    /** Returns the address for another process. */
    public Address address() {
        return new Address(server.jdbcUrl(name), server.user(), server.password());
    }

    /** Returns a connection pool such as an application has. */
    public HikariDataSource pool(int size) {
        return address().pool(size);
    }

    /** Returns the process id of the postmaster. */
    public long serverPid() {
        return server.pid();
    }

    /**
     * Updates the statistics and writes a checkpoint, so that no checkpoint of stored data falls into the measurement.
     */
    public void analyzeAndCheckpoint() throws SQLException {
        server.execute(name, "ANALYZE");
        server.execute(name, "CHECKPOINT");
    }

    /** Vacuums all tables, so that autovacuum has nothing to do. */
    public void vacuum() throws SQLException {
        server.execute(name, "VACUUM (FREEZE, ANALYZE)");
        server.execute(name, "CHECKPOINT");
    }

    @Override
    public void close() throws SQLException {
        server.drop(name);
    }

    /** The address and the credentials of a database. */
    public record Address(String url, String user, String password) {
        /** Returns a pool that opens all its connections at the start. */
        public HikariDataSource pool(int size) {
            HikariConfig config = new HikariConfig();
            config.setPoolName("bench");
            config.setMaximumPoolSize(size);
            config.setJdbcUrl(url);
            config.setUsername(user);
            config.setPassword(password);
            return new HikariDataSource(config);
        }
    }
}
