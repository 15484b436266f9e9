package io.carillon.testkit;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** Executes the statements of the test kit, each in its own transaction. */
record Sql(DataSource dataSource) {
    /** Reads one row. */
    interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** Executes a script without parameters in one transaction. */
    void run(String script) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(script);
        } catch (SQLException e) {
            throw failed(script, e);
        }
    }

    /** Returns the rows of a query. */
    <T> List<T> list(String sql, Row<T> row, Object... parameters) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) statement.setObject(i + 1, parameters[i]);
            List<T> rows = new ArrayList<>();
            try (ResultSet result = statement.executeQuery()) {
                while (result.next()) rows.add(row.read(result));
            }
            return rows;
        } catch (SQLException e) {
            throw failed(sql, e);
        }
    }

    /** Returns the only row of a query. */
    <T> T one(String sql, Row<T> row, Object... parameters) {
        List<T> rows = list(sql, row, parameters);
        if (rows.size() != 1)
            throw new AssertionError("expected one row from '%s', found: %s".formatted(sql.strip(), rows));
        return rows.get(0);
    }

    private static CarillonException failed(String sql, SQLException e) {
        return new CarillonException(
                ErrorCode.STORAGE,
                "A statement of the test kit failed: '%s': %s".formatted(sql.strip(), e.getMessage()),
                e);
    }
}
