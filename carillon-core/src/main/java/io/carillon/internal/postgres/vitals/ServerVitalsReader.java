package io.carillon.internal.postgres.vitals;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.jdbc.Backend;
import io.carillon.internal.jdbc.DriverTimeouts;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.store.DatabaseVitals;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** The state of the database server, for callers that have a database and no node yet. */
public final class ServerVitalsReader {
    private static final String READ = """
            SELECT carillon.clock() AS now,\s""" + VitalsRepository.JIT + """
                   , current_setting('max_connections')::int AS max_connections,
                   (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int AS used
            """;

    private ServerVitalsReader() {}

    /** Reads once; the tables must exist. */
    public static DatabaseVitals.Server read(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            List<String> missing = DriverTimeouts.missingInUrl(connection);
            if (Backend.isPooled(connection)) Backend.disableServerPrepare(connection);
            return new Session(connection, 0)
                    .query(READ)
                    .first(row -> new DatabaseVitals.Server(
                            row.instant("now"),
                            row.integer("used"),
                            row.integer("max_connections"),
                            row.maybeReal("jit"),
                            missing))
                    .orElseThrow();
        } catch (SQLException failure) {
            throw new CarillonException(
                    ErrorCode.STORAGE,
                    "Could not read the state of the database server: %s. The user needs USAGE on the schema carillon."
                            .formatted(failure.getMessage()),
                    failure);
        }
    }
}
