package io.carillon.cli.dev;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.cli.shell.ConnectionPools;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The database of the development node: an embedded PostgreSQL with persistent data, or the database given
 * by the caller.
 */
final class DevDatabase implements AutoCloseable {
    /** Four connections for the engine, some for the handlers and one for the view. */
    private static final int CONNECTIONS = 10;

    private static final int REQUESTS = 5;

    private final @Nullable EmbeddedPostgres embedded;
    private final HikariDataSource pool;
    private final HikariDataSource requests;
    private final String address;

    private DevDatabase(@Nullable EmbeddedPostgres embedded, DatabaseUrl url) {
        this.embedded = embedded;
        this.pool = ConnectionPools.open(url, CONNECTIONS);
        this.requests = ConnectionPools.open(url, REQUESTS);
        this.address = url.displayText();
    }

    static DevDatabase open(DevOptions options, Consumer<String> progress) {
        DatabaseUrl url = options.url();
        if (url != null) return new DevDatabase(null, url);
        // close() stops PostgreSQL after the node has stopped. A shutdown hook would stop it while
        // attempts still finish.
        EmbeddedPostgres server = EmbeddedPostgres.in(options.postgres())
                .progress(progress)
                .stopAtExit(false)
                .start();
        DatabaseUrl own =
                new DatabaseUrl(server.jdbcUrl(), server.user(), server.password(), "127.0.0.1:" + server.port());
        return new DevDatabase(server, own);
    }

    DataSource pool() {
        return pool;
    }

    /** Returns the pool for requests, which must not wait for connections of the engine. */
    DataSource requests() {
        return requests;
    }

    boolean isEmbedded() {
        return embedded != null;
    }

    /** Returns the address of the database for display. */
    String address() {
        return address;
    }

    /** Returns the version of PostgreSQL. */
    String version() {
        try (Connection connection = pool.getConnection()) {
            return connection.getMetaData().getDatabaseProductVersion();
        } catch (SQLException e) {
            throw new CarillonException(
                    ErrorCode.DATABASE_UNREACHABLE,
                    "The database at %s does not answer: %s.".formatted(address, e.getMessage()),
                    e);
        }
    }

    @Override
    public void close() {
        // Closing must also work after an interrupted start.
        boolean interrupted = Thread.interrupted();
        try (embedded;
                requests) {
            pool.close();
        } finally {
            if (interrupted) Thread.currentThread().interrupt();
        }
    }
}
