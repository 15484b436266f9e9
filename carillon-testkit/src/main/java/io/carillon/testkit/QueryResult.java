package io.carillon.testkit;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a query of a {@link TestDatabase}. All values are texts, as PostgreSQL prints them; SQL
 * {@code NULL} is null.
 */
public final class QueryResult {
    private final String sql;
    private final List<List<@Nullable String>> rows;

    private QueryResult(String sql, List<List<@Nullable String>> rows) {
        this.sql = sql;
        // List.copyOf refuses null.
        this.rows = Collections.unmodifiableList(rows);
    }

    static QueryResult of(Connection connection, String sql, Object... parameters) throws SQLException {
        // Without parameters, no prepared statement may stay on the connection: a test may count them.
        if (parameters.length == 0) {
            try (Statement statement = connection.createStatement();
                    ResultSet results = statement.executeQuery(sql)) {
                return new QueryResult(sql, rows(results));
            }
        }
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) statement.setObject(i + 1, parameters[i]);
            try (ResultSet results = statement.executeQuery()) {
                return new QueryResult(sql, rows(results));
            }
        }
    }

    private static List<List<@Nullable String>> rows(ResultSet results) throws SQLException {
        List<List<@Nullable String>> rows = new ArrayList<>();
        while (results.next()) rows.add(row(results));
        return rows;
    }

    private static List<@Nullable String> row(ResultSet results) throws SQLException {
        List<@Nullable String> row = new ArrayList<>();
        for (int i = 1; i <= results.getMetaData().getColumnCount(); i++) row.add(results.getString(i));
        return Collections.unmodifiableList(row);
    }

    /** Returns all rows, each with the values of its columns. */
    public List<List<@Nullable String>> rows() {
        return rows;
    }

    /** Returns the first column of each row. */
    public List<@Nullable String> texts() {
        List<@Nullable String> texts = new ArrayList<>();
        for (List<@Nullable String> row : rows) texts.add(row.get(0));
        return Collections.unmodifiableList(texts);
    }

    /** Returns the only value. Fails if the query did not return one row with one column. */
    public @Nullable String text() {
        if (rows.size() != 1 || rows.get(0).size() != 1)
            throw new AssertionError("Expected one value from '%s': %s".formatted(sql, rows));
        return rows.get(0).get(0);
    }

    /** Returns the only value as a number. Fails if the query did not return one integer. */
    public long number() {
        String text = text();
        if (text == null) throw new AssertionError("Expected a number from '%s': null".formatted(sql));
        return Long.parseLong(text);
    }

    /** Returns the rows as text, for failure messages. */
    @Override
    public String toString() {
        return rows.toString();
    }
}
