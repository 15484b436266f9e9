package io.carillon.bench.raw;

import io.carillon.run.Priority;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;

/** What a row needs to look like one of Carillon's. */
record Shape(Instant now, int priority) {
    static Shape read(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet clock = statement.executeQuery("SELECT carillon.clock()")) {
            clock.next();
            return new Shape(clock.getObject(1, OffsetDateTime.class).toInstant(), Priority.NORMAL.number());
        }
    }
}
