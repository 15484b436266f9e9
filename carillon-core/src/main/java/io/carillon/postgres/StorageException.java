package io.carillon.postgres;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The database refused or was not reached; carries the SQLSTATE so that callers can tell a repeatable failure from a lasting one. */
final class StorageException extends CarillonException {
    private static final long serialVersionUID = 1L;
    /** Data, constraints, limits, a trigger's word, and broken pages. */
    private static final Set<String> ROW_FAULTS = Set.of("22", "23", "54", "P0", "XX");

    private final String state;

    StorageException(SQLException cause) {
        super(code(cause), message(cause), cause);
        this.state = stateOf(cause);
    }

    /** A deadlock or a serialization failure: the statement changed nothing and may simply be repeated. */
    boolean repeatable() {
        return state.equals("40P01") || state.equals("40001");
    }

    /** A row for which no history partition exists (yet). */
    boolean partitionMissing() {
        return state.equals("23514");
    }

    /** A unique key stood in the way. */
    boolean duplicate() {
        return state.equals("23505");
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
