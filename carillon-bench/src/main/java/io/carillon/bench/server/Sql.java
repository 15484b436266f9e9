package io.carillon.bench.server;

import io.carillon.bench.measure.MeasureException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Executes simple SQL statements. */
public final class Sql {
    private final DataSource source;

    public Sql(DataSource source) {
        this.source = source;
    }

    /** Returns the number that a query yields. */
    public long number(String sql) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(sql)) {
            answer.next();
            return answer.getLong(1);
        } catch (SQLException e) {
            throw new MeasureException("The query '%s' failed: %s".formatted(sql, e.getMessage()), e);
        }
    }

    public void execute(String sql) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new MeasureException("The statement '%s' failed: %s".formatted(sql, e.getMessage()), e);
        }
    }
}
