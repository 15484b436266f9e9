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

/** Verifies a started server: it works on the expected data, and the database exists. */
final class ServerVerifier {
    static final String DATABASE = "carillon";
    private static final String COUNT_DATABASE = "SELECT count(*) FROM pg_database WHERE datname = 'carillon'";
    private static final String CREATE_DATABASE = "CREATE DATABASE carillon";

    static {
        // DriverManager searches for drivers only once, with the class loader of its first caller.
        try {
            Class.forName("org.postgresql.Driver");
        } catch (ClassNotFoundException e) {
            throw new EmbeddedPostgresException(
                    "The PostgreSQL JDBC driver is missing. Add org.postgresql:postgresql to the class path.", e);
        }
    }

    private final Path data;
    private final String password;

    ServerVerifier(Path data, String password) {
        this.data = data;
        this.password = password;
    }

    /** Verifies that the server on this port works on the expected data, and creates the database if it is missing. */
    void verify(int port) throws SQLException {
        try (Connection connection = connect(port);
                Statement statement = connection.createStatement()) {
            String shown = query(statement, "SHOW data_directory");
            if (!isOurData(shown)) throw wrongServer(port, shown);
            if (query(statement, COUNT_DATABASE).equals("0")) statement.execute(CREATE_DATABASE);
        }
    }

    /** Returns whether the server on this port accepts the password and works on the expected data. */
    boolean isOurServer(int port) {
        try (Connection connection = connect(port);
                Statement statement = connection.createStatement()) {
            return isOurData(query(statement, "SHOW data_directory"));
        } catch (SQLException e) {
            return false;
        }
    }

    private EmbeddedPostgresException wrongServer(int port, String shown) {
        return new EmbeddedPostgresException(
                "Port %d belongs to another PostgreSQL server, which works on %s and not on %s. Choose another port."
                        .formatted(port, shown, data));
    }

    private boolean isOurData(String shown) {
        try {
            return Path.of(shown).toRealPath().equals(data.toRealPath());
        } catch (IOException | InvalidPathException e) {
            return false;
        }
    }

    private static String query(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
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
