package io.carillon.embedded;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Executes statements on a server. */
final class Sql {
    private Sql() {}

    static String query(EmbeddedPostgres postgres, String question) throws SQLException {
        return query(postgres.jdbcUrl(), postgres.password(), question);
    }

    static String query(String url, String password, String question) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url, "carillon", password);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(question)) {
            row.next();
            return row.getString(1);
        }
    }

    static void execute(String url, String password, String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url, "carillon", password);
                Statement statement = connection.createStatement()) {
            for (String order : statements) statement.execute(order);
        }
    }

    static void insertRow(EmbeddedPostgres postgres, String text) throws SQLException {
        execute(
                postgres.jdbcUrl(),
                postgres.password(),
                "CREATE TABLE IF NOT EXISTS kept (text text)",
                "INSERT INTO kept VALUES ('" + text + "')");
    }

    static String storedRows(EmbeddedPostgres postgres) throws SQLException {
        return query(postgres, "SELECT string_agg(text, ',' ORDER BY text) FROM kept");
    }
}
