package io.carillon.postgres;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** The database refused or was not reached; carries the SQLSTATE so that callers can tell a repeatable failure from a lasting one. */
final class StorageException extends CarillonException {
    private static final long serialVersionUID = 1L;
    /** Data, constraints, limits, a trigger's word, and broken pages. */
    private static final Set<String> ROW_FAULTS = Set.of("22", "23", "54", "P0", "XX");

    private static final Pattern MISSING_DAY = Pattern.compile("\\(day\\) = \\((\\d{4}-\\d{2}-\\d{2})\\)");

    private final String state;

    StorageException(SQLException cause) {
        super(code(cause), message(cause), cause);
        this.state = stateOf(cause);
    }

    /** The same for another caller, with a stack of its own. */
    StorageException again() {
        return new StorageException((SQLException) java.util.Objects.requireNonNull(getCause()));
    }

    /** A deadlock or a serialization failure: the statement changed nothing and may simply be repeated. */
    boolean repeatable() {
        return state.equals("40P01") || state.equals("40001");
    }

    /** The statement waited too long, for a lock or for whatever else; it changed nothing. */
    boolean timedOut() {
        return state.equals("57014") || state.equals("55P03");
    }

    /** Another transaction kept a lock for longer than the statement waits; the statement changed nothing. */
    boolean locked() {
        return state.equals("55P03");
    }

    /** A check or the bounds of all partitions stood in the way. */
    boolean outside() {
        return state.equals("23514");
    }

    /** The day whose history partition is missing, if that is what failed. */
    Optional<LocalDate> missingDay() {
        if (!outside()) return Optional.empty();
        // Other words are translated, this part is not: Partition key of the failing row contains (day) = (2026-03-02).
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

    /** A unique key stood in the way. */
    boolean duplicate() {
        return state.equals("23505");
    }

    /** The server cannot do this here. */
    boolean unsupported() {
        return state.equals("0A000");
    }

    /** What a row holds was refused: the others of its group may do without it. Anything else is the database's trouble and concerns all. */
    boolean rowAtFault() {
        return ROW_FAULTS.contains(state.substring(0, Math.min(2, state.length())));
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
