package io.carillon.it.testkit;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Reads the first column of each row as text. */
final class FirstColumn {
    private FirstColumn() {}

    static List<String> of(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return of(connection, sql);
        }
    }

    static List<String> of(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            List<String> rows = new ArrayList<>();
            while (row.next()) rows.add(row.getString(1));
            return rows;
        }
    }
}
