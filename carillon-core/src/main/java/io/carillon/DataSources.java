package io.carillon;

import io.carillon.postgres.backend.Backend;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.OptionalInt;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks a data source over before anything is built on it: can it be reached, is it PostgreSQL, is it a pool large enough. */
final class DataSources {
    /** Heartbeat and LISTEN for good, and two more for everything else. */
    static final int ENGINE_CONNECTIONS = 4;

    private static final Logger log = LoggerFactory.getLogger(DataSources.class);
    private static final int OLDEST_POSTGRES = 14;
    private static final List<String> POOL_SIZES =
            List.of("getMaximumPoolSize", "getMaxTotal", "getMaxPoolSize", "getMaxActive");

    private DataSources() {}

    static void check(DataSource source) {
        String name = source.getClass().getName();
        if (name.contains("TransactionAwareDataSourceProxy") || name.contains("LazyConnectionDataSourceProxy"))
            throw new CarillonException(
                    ErrorCode.UNSUITABLE_DATA_SOURCE,
                    "The engine cannot work on a %s: its connections belong to the caller's transaction. Give the pool behind it to Carillon.on(…), or to engineDataSource(…)."
                            .formatted(source.getClass().getSimpleName()));
        try (Connection connection = connect(source)) {
            String product = connection.getMetaData().getDatabaseProductName();
            int version = connection.getMetaData().getDatabaseMajorVersion();
            if (!product.equals("PostgreSQL") || version < OLDEST_POSTGRES)
                throw new CarillonException(
                        ErrorCode.UNSUITABLE_DATA_SOURCE,
                        "This is %s %d; Carillon needs PostgreSQL %d or later."
                                .formatted(product, version, OLDEST_POSTGRES));
            List<String> missing = Backend.missingTimeouts(connection);
            if (!missing.isEmpty() && Backend.severalHosts(connection))
                log.warn(
                        "data source lacks settings, a node may not leave a server that does not answer missing={} advice={}",
                        missing,
                        "connectTimeout=5&socketTimeout=10&targetServerType=primary");
        } catch (SQLException failure) {
            throw unreachable(failure);
        }
    }

    /** Whether a pooler such as PgBouncer stands between: then nothing may be left behind on a session, not even a prepared statement. */
    static boolean pooled(DataSource source) {
        try (Connection connection = connect(source)) {
            return Backend.pooled(connection);
        } catch (SQLException failure) {
            throw unreachable(failure);
        }
    }

    /** Pools that open themselves on first use may fail with exceptions of their own. */
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
                "No connection to the database: %s. Check that it is up, that the data source is open, and its URL, user and password."
                        .formatted(failure.getMessage()),
                failure);
    }

    /** How many connections the pool may have, if it says so. */
    static OptionalInt poolSize(DataSource source) {
        for (String getter : POOL_SIZES) {
            try {
                Object size = source.getClass().getMethod(getter).invoke(source);
                if (size instanceof Integer number && number > 0) return OptionalInt.of(number);
            } catch (ReflectiveOperationException | RuntimeException notThisPool) {
                // Another pool, another name.
            }
        }
        return OptionalInt.empty();
    }

    /** How many handlers may hold a transaction at a time; refuses a pool that is too small, with the arithmetic. */
    static int transactionalSlots(DataSource source, boolean needed, int fallback) {
        OptionalInt size = poolSize(source);
        if (size.isEmpty()) return fallback;
        int left = size.getAsInt() - ENGINE_CONNECTIONS;
        int least = needed ? 1 : 0;
        if (left < least)
            throw new CarillonException(
                    ErrorCode.POOL_TOO_SMALL,
                    ("The pool has %d connections, but the engine needs %d: 1 heartbeat + 1 LISTEN + 2 for claims, completions and planning%s."
                                    + " Enlarge the pool to at least %d, or give the engine its own with engineDataSource(…).")
                            .formatted(
                                    size.getAsInt(),
                                    ENGINE_CONNECTIONS + least,
                                    needed ? " + at least 1 for transactional handlers" : "",
                                    ENGINE_CONNECTIONS + least));
        return Math.min(left, fallback);
    }
}
