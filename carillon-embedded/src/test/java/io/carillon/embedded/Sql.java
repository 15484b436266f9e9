package io.carillon.embedded;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Short conversations with a server. */
final class Sql {
    private Sql() {}

    static String ask(EmbeddedPostgres postgres, String question) throws SQLException {
        return ask(postgres.jdbcUrl(), postgres.password(), question);
    }

    static String ask(String url, String password, String question) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url, "carillon", password);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(question)) {
            row.next();
            return row.getString(1);
        }
    }

    static void tell(String url, String password, String... orders) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url, "carillon", password);
                Statement statement = connection.createStatement()) {
            for (String order : orders) statement.execute(order);
        }
    }

    static void keepARow(EmbeddedPostgres postgres, String text) throws SQLException {
        tell(
                postgres.jdbcUrl(),
                postgres.password(),
                "CREATE TABLE IF NOT EXISTS kept (text text)",
                "INSERT INTO kept VALUES ('" + text + "')");
    }

    static String keptRows(EmbeddedPostgres postgres) throws SQLException {
        return ask(postgres, "SELECT string_agg(text, ',' ORDER BY text) FROM kept");
    }
}
