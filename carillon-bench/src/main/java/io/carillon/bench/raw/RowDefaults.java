package io.carillon.bench.raw;

import io.carillon.run.Priority;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;

/** The column values that all stored rows share. */
record RowDefaults(Instant now, int priority) {
    static RowDefaults read(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet clock = statement.executeQuery("SELECT carillon.clock()")) {
            clock.next();
            return new RowDefaults(clock.getObject(1, OffsetDateTime.class).toInstant(), Priority.NORMAL.number());
        }
    }
}
