package io.carillon.it.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Reads tables with plain SQL. */
record TableReader(DataSource source) {
    /** Returns the first column of each row as text. */
    List<String> texts(String sql, Object... parameters) {
        try (Connection connection = source.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) statement.setObject(i + 1, parameters[i]);
            try (ResultSet rows = statement.executeQuery()) {
                List<String> texts = new ArrayList<>();
                while (rows.next()) texts.add(rows.getString(1));
                return texts;
            }
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    /** Returns the only value of the result. */
    String text(String sql, Object... parameters) {
        List<String> texts = texts(sql, parameters);
        if (texts.size() != 1) throw new AssertionError("Expected one row from '%s': %s".formatted(sql, texts));
        return texts.get(0);
    }

    long number(String sql, Object... parameters) {
        return Long.parseLong(text(sql, parameters));
    }
}
