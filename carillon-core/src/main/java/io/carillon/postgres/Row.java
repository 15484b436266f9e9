package io.carillon.postgres;

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
 * The current row of a result, read by column name. The plain readers require a value; the {@code maybe} readers allow
 * null.
 */
final class Row {
    private final ResultSet rows;

    Row(ResultSet rows) {
        this.rows = rows;
    }

    String text(String column) throws SQLException {
        return requireNonNull(rows.getString(column), column);
    }

    @Nullable
    String maybeText(String column) throws SQLException {
        return rows.getString(column);
    }

    UUID uuid(String column) throws SQLException {
        return requireNonNull(maybeUuid(column), column);
    }

    @Nullable
    UUID maybeUuid(String column) throws SQLException {
        return (UUID) rows.getObject(column);
    }

    int integer(String column) throws SQLException {
        return rows.getInt(column);
    }

    long number(String column) throws SQLException {
        return rows.getLong(column);
    }

    @Nullable
    Long maybeNumber(String column) throws SQLException {
        long value = rows.getLong(column);
        return rows.wasNull() ? null : value;
    }

    @Nullable
    Integer maybeInteger(String column) throws SQLException {
        int value = rows.getInt(column);
        return rows.wasNull() ? null : value;
    }

    @Nullable
    Double maybeReal(String column) throws SQLException {
        double value = rows.getDouble(column);
        return rows.wasNull() ? null : value;
    }

    boolean flag(String column) throws SQLException {
        return rows.getBoolean(column);
    }

    Instant instant(String column) throws SQLException {
        return requireNonNull(maybeInstant(column), column);
    }

    @Nullable
    Instant maybeInstant(String column) throws SQLException {
        OffsetDateTime time = rows.getObject(column, OffsetDateTime.class);
        return time == null ? null : DatabaseTime.fromDatabase(time);
    }

    /** Reads a duration that the statement returns in seconds. */
    @Nullable
    Duration maybeSeconds(String column) throws SQLException {
        double seconds = rows.getDouble(column);
        return rows.wasNull() ? null : DatabaseTime.duration(seconds);
    }

    Duration seconds(String column) throws SQLException {
        return requireNonNull(maybeSeconds(column), column);
    }

    byte[] bytes(String column) throws SQLException {
        return requireNonNull(rows.getBytes(column), column);
    }

    byte @Nullable [] maybeBytes(String column) throws SQLException {
        return rows.getBytes(column);
    }

    List<String> texts(String column) throws SQLException {
        return Arrays.stream(array(column)).map(String::valueOf).toList();
    }

    List<UUID> uuids(String column) throws SQLException {
        return Arrays.stream(array(column)).map(UUID.class::cast).toList();
    }

    List<Long> numbers(String column) throws SQLException {
        return Arrays.stream(array(column)).map(Long.class::cast).toList();
    }

    private Object[] array(String column) throws SQLException {
        Array array = rows.getArray(column);
        return array == null ? new Object[0] : (Object[]) array.getArray();
    }
}
