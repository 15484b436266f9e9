package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.NodeConfig;
import io.carillon.internal.jdbc.Backend;
import io.carillon.internal.jdbc.DriverTimeouts;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.OptionalInt;
import java.util.Properties;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks a data source before use: it must be reachable, be PostgreSQL, and have enough connections. */
public final class DataSources {
    /** One for the heartbeat and one for LISTEN permanently, two for all other statements. */
    static final int ENGINE_CONNECTIONS = 4;

    private static final Logger log = LoggerFactory.getLogger(DataSources.class);
    private static final int MIN_POSTGRES_VERSION = 14;
    private static final List<String> POOL_SIZE_GETTERS =
            List.of("getMaximumPoolSize", "getMaxTotal", "getMaxPoolSize", "getMaxActive");
    private static final List<String> DRIVER_SETTINGS_GETTERS =
            List.of("getDataSourceProperties", "getDbProperties", "getProperties");
    private static final String MISSING_TIMEOUTS =
            "data source lacks timeouts; a node may keep waiting for a server that does not respond"
                    + " missing={} advice={}";

    private DataSources() {}

    public static void check(DataSource source) {
        String name = source.getClass().getName();
        if (name.contains("TransactionAwareDataSourceProxy") || name.contains("LazyConnectionDataSourceProxy"))
            throw new CarillonException(
                    ErrorCode.UNSUITABLE_DATA_SOURCE,
                    ("The engine cannot use a %s: its connections join the caller's transaction. Pass the underlying"
                                    + " pool to Carillon.on(…) or engineDataSource(…).")
                            .formatted(source.getClass().getSimpleName()));
        try (Connection connection = connect(source)) {
            String product = connection.getMetaData().getDatabaseProductName();
            int version = connection.getMetaData().getDatabaseMajorVersion();
            if (!product.equals("PostgreSQL") || version < MIN_POSTGRES_VERSION)
                throw new CarillonException(
                        ErrorCode.UNSUITABLE_DATA_SOURCE,
                        "The server is %s %d, but Carillon requires PostgreSQL %d or later."
                                .formatted(product, version, MIN_POSTGRES_VERSION));
            logMissingTimeouts(source, connection);
        } catch (SQLException failure) {
            throw unreachable(failure);
        }
    }

    /** Warns only if the driver has several hosts: with one host, a node has no other server to use. */
    private static void logMissingTimeouts(DataSource source, Connection connection) {
        try {
            List<String> missing = DriverTimeouts.missing(connection, driverSettings(source));
            if (missing.isEmpty()) return;
            String advice = DriverTimeouts.advice(missing);
            if (DriverTimeouts.hasSeveralHosts(connection)) log.warn(MISSING_TIMEOUTS, missing, advice);
            else log.info(MISSING_TIMEOUTS, missing, advice);
        } catch (SQLException | RuntimeException | LinkageError unknown) {
            // Only advice: a wrapped connection or another version of the driver must not stop the start.
            log.debug("could not check the timeouts of the data source", unknown);
        }
    }

    /** Returns the settings that the pool passes to the driver besides the URL, if the pool exposes them. */
    private static Properties driverSettings(DataSource source) {
        Properties settings = new Properties();
        for (String getter : DRIVER_SETTINGS_GETTERS) {
            try {
                if (source.getClass().getMethod(getter).invoke(source) instanceof Properties found)
                    found.forEach((name, value) -> settings.setProperty(name.toString(), value.toString()));
            } catch (ReflectiveOperationException | RuntimeException | LinkageError notThisPool) {
                // A pool of another library names this getter differently.
            }
        }
        return settings;
    }

    /**
     * Returns whether a pooler such as PgBouncer is between this process and the server. Then no state may stay on a
     * session, including prepared statements.
     */
    public static boolean isBehindPooler(DataSource source) {
        try (Connection connection = connect(source)) {
            return Backend.isPooled(connection);
        } catch (SQLException failure) {
            throw unreachable(failure);
        }
    }

    /** Some pools connect on first use and throw their own unchecked exceptions. */
    private static Connection connect(DataSource source) throws SQLException {
        try {
            return source.getConnection();
        } catch (RuntimeException failure) {
            throw unreachable(failure);
        }
    }

    private static CarillonException unreachable(Exception failure) {
        return new CarillonException(
                ErrorCode.DATABASE_UNREACHABLE,
                ("Could not connect to the database: %s. Check that the server is running, that the data source is"
                                + " open, and that URL, user and password are correct.")
                        .formatted(failure.getMessage()),
                failure);
    }

    /** Returns the maximum size of the pool; empty if the pool does not expose it. */
    static OptionalInt poolSize(DataSource source) {
        for (String getter : POOL_SIZE_GETTERS) {
            try {
                Object size = source.getClass().getMethod(getter).invoke(source);
                if (size instanceof Integer number && number > 0) return OptionalInt.of(number);
            } catch (ReflectiveOperationException | RuntimeException | LinkageError notThisPool) {
                // A pool of another library names this getter differently.
            }
        }
        return OptionalInt.empty();
    }

    /** Returns the settings with as many transactional handlers as fit into the pool. */
    public static NodeConfig fitToPool(NodeConfig config, DataSource source, boolean shared) {
        return config.transactionalConcurrency(transactionalSlots(source, shared, config.transactionalConcurrency()));
    }

    /**
     * Returns how many handlers may hold a transaction at the same time. Rejects a pool that is too small and
     * shows the calculation.
     */
    public static int transactionalSlots(DataSource source, boolean needed, int fallback) {
        OptionalInt size = poolSize(source);
        if (size.isEmpty()) return fallback;
        int left = size.getAsInt() - ENGINE_CONNECTIONS;
        int least = needed ? 1 : 0;
        if (left < least)
            throw new CarillonException(
                    ErrorCode.POOL_TOO_SMALL,
                    ("The pool has %d connections, but the engine needs %d: 1 for the heartbeat, 1 for LISTEN, 2 for"
                                    + " claims, completions and planning%s. Increase the pool to at least %d"
                                    + " connections, or"
                                    + " give the engine its own pool with engineDataSource(…).")
                            .formatted(
                                    size.getAsInt(),
                                    ENGINE_CONNECTIONS + least,
                                    needed ? ", at least 1 for transactional handlers and steps" : "",
                                    ENGINE_CONNECTIONS + least));
        return Math.min(left, fallback);
    }
}
