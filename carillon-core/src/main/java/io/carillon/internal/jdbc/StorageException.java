package io.carillon.internal.jdbc;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * The failure of a statement that PostgreSQL rejected, or of a database that was not reachable. It has the SQLSTATE, so
 * that callers can distinguish failures worth a retry from permanent failures.
 */
public final class StorageException extends CarillonException {
    private static final long serialVersionUID = 1L;
    /** Data, constraints, limits, exceptions raised by a trigger, and corrupted pages. */
    private static final Set<String> ROW_ERROR_CLASSES = Set.of("22", "23", "54", "P0", "XX");

    private static final Pattern MISSING_DAY = Pattern.compile("\\(day\\) = \\((\\d{4}-\\d{2}-\\d{2})\\)");

    private final String sqlState;

    public StorageException(SQLException cause) {
        super(code(cause), message(cause), cause);
        this.sqlState = stateOf(cause);
    }

    /** Returns the same failure for another caller, with its own stack trace. */
    StorageException copyForCaller() {
        return new StorageException((SQLException) java.util.Objects.requireNonNull(getCause()));
    }

    /** Returns the SQLSTATE; empty if the driver gave none. */
    public String sqlState() {
        return sqlState;
    }

    /**
     * Returns whether this is a deadlock or a serialization failure: the statement changed nothing and may be repeated.
     */
    public boolean isRetryable() {
        return sqlState.equals("40P01") || sqlState.equals("40001");
    }

    /** Returns whether the statement took too long, because of a lock or for another reason; it changed nothing. */
    public boolean isTimeout() {
        return sqlState.equals("57014") || sqlState.equals("55P03");
    }

    /**
     * Returns whether another transaction held a lock for longer than the statement waits; the
     * statement changed nothing.
     */
    public boolean isLockTimeout() {
        return sqlState.equals("55P03");
    }

    /** Returns whether a check constraint failed, or no partition takes the row. */
    public boolean isCheckViolation() {
        return sqlState.equals("23514");
    }

    /** Returns the day whose history partition is missing, if that is the cause. */
    public Optional<LocalDate> missingDay() {
        if (!isCheckViolation()) return Optional.empty();
        // Of the detail "Partition key of the failing row contains (day) = (2026-03-02)", PostgreSQL translates all but
        // the part that is matched here.
        Matcher day = MISSING_DAY.matcher(detail());
        return day.find() ? Optional.of(LocalDate.parse(day.group(1))) : Optional.empty();
    }

    private String detail() {
        for (@Nullable Throwable cause = getCause(); cause != null; cause = cause.getCause()) {
            if (!(cause instanceof PSQLException exception)) continue;
            @Nullable ServerErrorMessage message = exception.getServerErrorMessage();
            @Nullable String detail = message == null ? null : message.getDetail();
            if (detail != null) return detail;
        }
        return "";
    }

    /** Returns whether a unique key was violated. */
    public boolean isUniqueViolation() {
        return sqlState.equals("23505");
    }

    /** Returns whether the server does not support the statement in this situation. */
    public boolean isUnsupported() {
        return sqlState.equals("0A000");
    }

    /**
     * Returns whether the contents of a row were rejected: the other rows of its group can be written without it. Any
     * other failure concerns the database and all rows.
     */
    public boolean isRowError() {
        return ROW_ERROR_CLASSES.contains(sqlState.substring(0, Math.min(2, sqlState.length())));
    }

    private static ErrorCode code(SQLException cause) {
        String state = stateOf(cause);
        return state.startsWith("08") || state.startsWith("57P") ? ErrorCode.DATABASE_UNREACHABLE : ErrorCode.STORAGE;
    }

    private static String message(SQLException cause) {
        String what = String.valueOf(cause.getMessage());
        return code(cause) == ErrorCode.DATABASE_UNREACHABLE
                ? "The database cannot be reached (" + what
                        + "). Check that it is up and that the data source's URL and password are right."
                : "The database refused a statement: " + what;
    }

    private static String stateOf(SQLException cause) {
        @Nullable String state = cause.getSQLState();
        return state == null ? "" : state;
    }
}
