package io.carillon.internal.jdbc;

import static java.util.Objects.requireNonNull;

import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The current row of a result, read by column name. The plain readers require a value; the {@code maybe}
 * readers allow null.
 */
public final class Row {
    private final ResultSet rows;

    Row(ResultSet rows) {
        this.rows = rows;
    }

    public String text(String column) throws SQLException {
        return requireNonNull(rows.getString(column), column);
    }

    @Nullable
    public String maybeText(String column) throws SQLException {
        return rows.getString(column);
    }

    public UUID uuid(String column) throws SQLException {
        return requireNonNull(maybeUuid(column), column);
    }

    @Nullable
    public UUID maybeUuid(String column) throws SQLException {
        return (UUID) rows.getObject(column);
    }

    public int integer(String column) throws SQLException {
        return rows.getInt(column);
    }

    public long number(String column) throws SQLException {
        return rows.getLong(column);
    }

    @Nullable
    public Long maybeNumber(String column) throws SQLException {
        long value = rows.getLong(column);
        return rows.wasNull() ? null : value;
    }

    @Nullable
    public Integer maybeInteger(String column) throws SQLException {
        int value = rows.getInt(column);
        return rows.wasNull() ? null : value;
    }

    @Nullable
    public Double maybeReal(String column) throws SQLException {
        double value = rows.getDouble(column);
        return rows.wasNull() ? null : value;
    }

    @Nullable
    public Boolean maybeFlag(String column) throws SQLException {
        boolean value = flag(column);
        return rows.wasNull() ? null : value;
    }

    public boolean flag(String column) throws SQLException {
        return rows.getBoolean(column);
    }

    public Instant instant(String column) throws SQLException {
        return requireNonNull(maybeInstant(column), column);
    }

    @Nullable
    public Instant maybeInstant(String column) throws SQLException {
        OffsetDateTime time = rows.getObject(column, OffsetDateTime.class);
        return time == null ? null : DatabaseTime.fromDatabase(time);
    }

    /** Reads a duration that the statement returns in seconds. */
    @Nullable
    public Duration maybeSeconds(String column) throws SQLException {
        double seconds = rows.getDouble(column);
        return rows.wasNull() ? null : DatabaseTime.duration(seconds);
    }

    public Duration seconds(String column) throws SQLException {
        return requireNonNull(maybeSeconds(column), column);
    }

    public byte[] bytes(String column) throws SQLException {
        return requireNonNull(rows.getBytes(column), column);
    }

    public byte @Nullable [] maybeBytes(String column) throws SQLException {
        return rows.getBytes(column);
    }

    public List<String> texts(String column) throws SQLException {
        return Arrays.stream(array(column)).map(String::valueOf).toList();
    }

    public List<UUID> uuids(String column) throws SQLException {
        return Arrays.stream(array(column)).map(UUID.class::cast).toList();
    }

    public List<Long> numbers(String column) throws SQLException {
        return Arrays.stream(array(column)).map(Long.class::cast).toList();
    }

    private Object[] array(String column) throws SQLException {
        Array array = rows.getArray(column);
        return array == null ? new Object[0] : (Object[]) array.getArray();
    }
}
