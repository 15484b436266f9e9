package io.carillon.cli.dev;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.Pools;
import io.carillon.embedded.EmbeddedPostgres;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The database of the node: an embedded server on kept data, or one that somebody named. */
final class DevDatabase implements AutoCloseable {
    /** The engine's four, a few for its handlers, and one for the view. */
    private static final int CONNECTIONS = 10;

    private static final int REQUESTS = 5;

    private final @Nullable EmbeddedPostgres embedded;
    private final HikariDataSource pool;
    private final HikariDataSource requests;
    private final String address;

    private DevDatabase(@Nullable EmbeddedPostgres embedded, DatabaseUrl url) {
        this.embedded = embedded;
        this.pool = Pools.on(url, CONNECTIONS);
        this.requests = Pools.on(url, REQUESTS);
        this.address = url.shown();
    }

    static DevDatabase open(DevOptions options, Consumer<String> progress) {
        DatabaseUrl url = options.url();
        if (url != null) return new DevDatabase(null, url);
        // It is stopped here, after the node has let go of it: a hook of its own would be faster than the drain.
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

    /** The pool for requests, which must not wait behind the engine. */
    DataSource requests() {
        return requests;
    }

    boolean isEmbedded() {
        return embedded != null;
    }

    /** Where it listens. */
    String address() {
        return address;
    }

    /** The version of the server. */
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
        // A start that was interrupted ends here, and must be able to.
        boolean interrupted = Thread.interrupted();
        try (embedded;
                requests) {
            pool.close();
        } finally {
            if (interrupted) Thread.currentThread().interrupt();
        }
    }
}
