package io.carillon.bench.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;

/** One database of the server, dropped when it is closed. */
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

    /** How another process reaches it. */
    public Address address() {
        return new Address(server.jdbcUrl(name), server.user(), server.password());
    }

    /** A pool as an application would have it. */
    public HikariDataSource pool(int size) {
        return address().pool(size);
    }

    /** The process id of the postmaster. */
    public long serverPid() {
        return server.pid();
    }

    /** Statistics are fresh, and no checkpoint of what was stored falls into what is measured. */
    public void settle() throws SQLException {
        server.execute(name, "ANALYZE");
        server.execute(name, "CHECKPOINT");
    }

    /** Nothing is left for autovacuum to do. */
    public void vacuum() throws SQLException {
        server.execute(name, "VACUUM (FREEZE, ANALYZE)");
        server.execute(name, "CHECKPOINT");
    }

    @Override
    public void close() throws SQLException {
        server.drop(name);
    }

    /** What it takes to connect. */
    public record Address(String url, String user, String password) {
        /** A pool whose connections are all there from the start. */
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
