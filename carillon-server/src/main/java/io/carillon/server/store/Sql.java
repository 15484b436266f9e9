package io.carillon.server.store;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Executes single statements with positional parameters. */
final class Sql {
    private Sql() {}

    /** Maps one row. */
    @FunctionalInterface
    interface Mapper<T> {
        T map(ResultSet row) throws SQLException;
    }

    static <T> List<T> list(Connection connection, String sql, Mapper<T> mapper, @Nullable Object... values)
            throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, values);
                ResultSet rows = statement.executeQuery()) {
            List<T> all = new ArrayList<>();
            while (rows.next()) all.add(mapper.map(rows));
            return all;
        }
    }

    static <T> Optional<T> first(Connection connection, String sql, Mapper<T> mapper, @Nullable Object... values)
            throws SQLException {
        return list(connection, sql, mapper, values).stream().findFirst();
    }

    static int update(Connection connection, String sql, @Nullable Object... values) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, values)) {
            return statement.executeUpdate();
        }
    }

    private static PreparedStatement prepare(Connection connection, String sql, @Nullable Object... values)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < values.length; i++) {
            Object value = values[i];
            if (value instanceof Instant at) statement.setObject(i + 1, at.atOffset(ZoneOffset.UTC));
            else if (value instanceof List<?> texts)
                statement.setArray(i + 1, connection.createArrayOf("text", texts.toArray()));
            else if (value == null) statement.setNull(i + 1, Types.NULL);
            else statement.setObject(i + 1, value);
        }
        return statement;
    }

    static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime at = row.getObject(column, OffsetDateTime.class);
        return at == null ? null : at.toInstant();
    }

    static Instant requiredInstant(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    static List<String> texts(ResultSet row, String column) throws SQLException {
        return List.of((String[]) row.getArray(column).getArray());
    }

    /** The SQLSTATE of the cause determines the response to the caller; the message appears only in the log. */
    static CarillonException toException(SQLException failure) {
        return new CarillonException(ErrorCode.STORAGE, "A statement of the server failed.", failure);
    }
}
