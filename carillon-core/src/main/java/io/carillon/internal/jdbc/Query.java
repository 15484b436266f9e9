package io.carillon.internal.jdbc;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGStatement;

/** One execution of a statement with named parameters. The statement is closed after it has run. */
public final class Query {
    private final Connection connection;
    private final NamedSql sql;
    private final PreparedStatement statement;

    Query(Connection connection, NamedSql sql, int timeoutSeconds) throws SQLException {
        this.connection = connection;
        this.sql = sql;
        this.statement = connection.prepareStatement(sql.text());
        if (timeoutSeconds > 0) statement.setQueryTimeout(timeoutSeconds);
    }

    Query planEachTime() throws SQLException {
        // A driver that hides its statement may keep the plan, which costs time only.
        if (statement.isWrapperFor(PGStatement.class))
            statement.unwrap(PGStatement.class).setPrepareThreshold(0);
        return this;
    }

    /** A function that reads a value from a row. */
    @FunctionalInterface
    public interface RowMapper<T> {
        T map(Row row) throws SQLException;
    }

    public Query text(String name, @Nullable String value) throws SQLException {
        for (int position : positionsOf(name)) statement.setString(position, value);
        return this;
    }

    public Query number(String name, @Nullable Number value) throws SQLException {
        for (int position : positionsOf(name)) {
            if (value == null) statement.setNull(position, Types.BIGINT);
            else statement.setLong(position, value.longValue());
        }
        return this;
    }

    public Query real(String name, @Nullable Double value) throws SQLException {
        for (int position : positionsOf(name)) statement.setObject(position, value, Types.DOUBLE);
        return this;
    }

    public Query flag(String name, boolean value) throws SQLException {
        for (int position : positionsOf(name)) statement.setBoolean(position, value);
        return this;
    }

    public Query uuid(String name, @Nullable UUID value) throws SQLException {
        for (int position : positionsOf(name)) statement.setObject(position, value, Types.OTHER);
        return this;
    }

    public Query bytes(String name, byte @Nullable [] value) throws SQLException {
        for (int position : positionsOf(name)) statement.setBytes(position, value);
        return this;
    }

    public Query instant(String name, @Nullable Instant value) throws SQLException {
        for (int position : positionsOf(name))
            statement.setObject(
                    position, value == null ? null : DatabaseTime.toDatabase(value), Types.TIMESTAMP_WITH_TIMEZONE);
        return this;
    }

    /** Binds a duration as seconds; the statement adds it to the clock. */
    public Query seconds(String name, @Nullable Duration value) throws SQLException {
        for (int position : positionsOf(name)) {
            if (value == null) statement.setNull(position, Types.DOUBLE);
            else statement.setDouble(position, DatabaseTime.seconds(value));
        }
        return this;
    }

    public Query texts(String name, Collection<String> values) throws SQLException {
        return array(name, "text", values.toArray(String[]::new));
    }

    public Query uuids(String name, Collection<UUID> values) throws SQLException {
        return array(name, "uuid", values.toArray(UUID[]::new));
    }

    /** Binds a column of an array of rows; {@code type} is the PostgreSQL type of its values. */
    public <T> Query column(
            String name, String type, Collection<T> items, Function<? super T, ? extends @Nullable Object> value)
            throws SQLException {
        // The driver sends typed arrays in binary form, and a plain Object[] as text.
        Object[] values = (Object[]) java.lang.reflect.Array.newInstance(cellType(type), items.size());
        int i = 0;
        for (T item : items) {
            Object cell = value.apply(item);
            values[i++] = cell instanceof Instant instant ? DatabaseTime.text(instant) : cell;
        }
        return array(name, type, values);
    }

    private static Class<?> cellType(String type) {
        return switch (type) {
            case "bytea" -> byte[].class;
            case "uuid" -> UUID.class;
            case "smallint" -> Short.class;
            case "int4" -> Integer.class;
            case "int8" -> Long.class;
            case "float8" -> Double.class;
            case "bool" -> Boolean.class;
            default -> String.class;
        };
    }

    private Query array(String name, String type, @Nullable Object[] values) throws SQLException {
        Array array = connection.createArrayOf(type, values);
        for (int position : positionsOf(name)) statement.setArray(position, array);
        return this;
    }

    public int update() throws SQLException {
        try (statement) {
            return statement.executeUpdate();
        }
    }

    public <T> List<T> list(RowMapper<T> rowMapper) throws SQLException {
        try (statement;
                ResultSet rows = statement.executeQuery()) {
            List<T> result = new ArrayList<>();
            Row row = new Row(rows);
            while (rows.next()) result.add(rowMapper.map(row));
            return result;
        }
    }

    public <T> Optional<T> first(RowMapper<T> rowMapper) throws SQLException {
        List<T> all = list(rowMapper);
        return all.isEmpty() ? Optional.empty() : Optional.of(all.get(0));
    }

    private List<Integer> positionsOf(String name) {
        List<Integer> positions = sql.positions().get(name);
        if (positions == null) throw new IllegalArgumentException("no parameter :" + name + " in " + sql.text());
        return positions;
    }
}
