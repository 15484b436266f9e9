package io.carillon.postgres.vitals;

import io.carillon.postgres.backend.Backend;
import io.carillon.store.Vitals;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import javax.sql.DataSource;

/** Looks at the server beneath the tables, for those who have a database and no node yet. */
public final class ServerLook {
    private static final String LOOK = """
            SELECT carillon.clock() AS now,\s""" + VitalsRepository.JIT + """
                   , current_setting('max_connections')::int AS most,
                   (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int AS used
            """;

    private ServerLook() {}

    /** Reads once; the tables must be there. */
    public static Vitals.Server read(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(LOOK)) {
            row.next();
            return new Vitals.Server(
                    row.getObject("now", OffsetDateTime.class).toInstant(),
                    row.getInt("used"),
                    row.getInt("most"),
                    row.getObject("jit", Double.class),
                    Backend.missingTimeouts(connection));
        } catch (SQLException failure) {
            throw new CarillonException(
                    ErrorCode.STORAGE,
                    "The database could not be looked at: %s. The user needs USAGE on the schema carillon."
                            .formatted(failure.getMessage()),
                    failure);
        }
    }
}
