package io.carillon.embedded;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;

/** The first words with a server: is it ours, and is our database there? */
final class Greeting {
    static final String DATABASE = "carillon";
    private static final String COUNT_DATABASE = "SELECT count(*) FROM pg_database WHERE datname = 'carillon'";
    private static final String CREATE_DATABASE = "CREATE DATABASE carillon";

    static {
        // DriverManager looks for drivers once, with the class loader of whoever came first.
        try {
            Class.forName("org.postgresql.Driver");
        } catch (ClassNotFoundException e) {
            throw new EmbeddedPostgresException(
                    "The driver is missing. Add org.postgresql:postgresql to the class path.", e);
        }
    }

    private final Path data;
    private final String password;

    Greeting(Path data, String password) {
        this.data = data;
        this.password = password;
    }

    /** Makes sure that the server behind the port works on our data, and that it has the database. */
    void meet(int port) throws SQLException {
        try (Connection connection = connect(port);
                Statement statement = connection.createStatement()) {
            String shown = ask(statement, "SHOW data_directory");
            if (!isOurs(shown)) throw another(port, shown);
            if (ask(statement, COUNT_DATABASE).equals("0")) statement.execute(CREATE_DATABASE);
        }
    }

    /** Whether the server behind the port knows our password and works on our data. */
    boolean recognises(int port) {
        try (Connection connection = connect(port);
                Statement statement = connection.createStatement()) {
            return isOurs(ask(statement, "SHOW data_directory"));
        } catch (SQLException e) {
            return false;
        }
    }

    private EmbeddedPostgresException another(int port, String shown) {
        return new EmbeddedPostgresException(
                "Port %d leads to another PostgreSQL, which works on %s and not on %s. Choose another port."
                        .formatted(port, shown, data));
    }

    private boolean isOurs(String shown) {
        try {
            return Path.of(shown).toRealPath().equals(data.toRealPath());
        } catch (IOException | InvalidPathException e) {
            return false;
        }
    }

    private static String ask(Statement statement, String question) throws SQLException {
        try (ResultSet row = statement.executeQuery(question)) {
            row.next();
            return row.getString(1);
        }
    }

    private Connection connect(int port) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", Cluster.USER);
        properties.setProperty("password", password);
        properties.setProperty("ApplicationName", "carillon-embedded");
        properties.setProperty("connectTimeout", "10");
        properties.setProperty("socketTimeout", "60");
        return DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + port + "/postgres", properties);
    }
}
