package io.carillon.postgres.vitals;

import io.carillon.postgres.backend.Backend;
import io.carillon.store.DatabaseVitals;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import javax.sql.DataSource;

/** The state of the database server, for callers that have a database and no node yet. */
public final class ServerVitalsReader {
    private static final String READ = """
            SELECT carillon.clock() AS now,\s""" + VitalsRepository.JIT + """
                   , current_setting('max_connections')::int AS most,
                   (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int AS used
            """;

    private ServerVitalsReader() {}

    /** Reads once; the tables must exist. */
    public static DatabaseVitals.Server read(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(READ)) {
            row.next();
            return new DatabaseVitals.Server(
                    row.getObject("now", OffsetDateTime.class).toInstant(),
                    row.getInt("used"),
                    row.getInt("most"),
                    row.getObject("jit", Double.class),
                    Backend.missingTimeouts(connection));
        } catch (SQLException failure) {
            throw new CarillonException(
                    ErrorCode.STORAGE,
                    "Could not read the state of the database server: %s. The user needs USAGE on the schema carillon."
                            .formatted(failure.getMessage()),
                    failure);
        }
    }
}
