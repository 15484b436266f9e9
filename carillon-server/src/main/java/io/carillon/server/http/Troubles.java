package io.carillon.server.http;

import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Text;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What an exception is to a caller: one table of codes. What the database said stays inside. */
public final class Troubles {
    private static final Map<ErrorCode, Integer> STATUS = new EnumMap<>(ErrorCode.class);
    /** The database is away, full, busy, read-only or gave up: the same request may succeed in a moment. */
    private static final Set<String> PASSING = Set.of("08", "53", "55", "57", "40", "25", "58");
    /** The database refused what the request brought. */
    private static final Set<String> UNACCEPTABLE = Set.of("22", "23", "54");

    static {
        for (ErrorCode code : ErrorCode.values()) STATUS.put(code, status(code));
    }

    private Troubles() {}

    private static int status(ErrorCode code) {
        return switch (code) {
            case CRON_SYNTAX,
                    INVALID_NAME,
                    INVALID_OPTION,
                    NEVER_FIRES,
                    HISTORY_DROPPED,
                    UNKNOWN_ZONE,
                    PAYLOAD_UNREADABLE,
                    PAYLOAD_UNWRITABLE,
                    UNKNOWN_HANDLER,
                    UNKNOWN_SECRET,
                    DUPLICATE_HANDLER,
                    DUPLICATE_SCHEDULE -> 422;
            case PAYLOAD_TOO_LARGE -> 413;
            case MALFORMED_ID, UNKNOWN_PROJECT, UNKNOWN_RUN, UNKNOWN_SCHEDULE -> 404;
            case VERSION_CONFLICT, LEASE_LOST, SCHEDULE_UNREADABLE -> 409;
            case NOT_YET -> 501;
            case ALREADY_CLOSED, DATABASE_UNREACHABLE, SCHEMA_CHANGED, SCHEMA_TOO_NEW, SCHEMA_TOO_OLD -> 503;
            case STORAGE, POOL_TOO_SMALL, UNSUITABLE_DATA_SOURCE -> 500;
        };
    }

    /** The problem to answer with. */
    public static Problem of(Throwable failure) {
        if (failure instanceof Problem problem) return problem;
        Optional<String> state = sqlState(failure);
        if (state.isPresent()) return ofState(state.get());
        if (failure instanceof CarillonException known) {
            int status = STATUS.getOrDefault(known.code(), 500);
            if (status == 503) return unavailable();
            if (status == 500) return internal();
            return Problem.of(status, known.code().text(), Text.clean(String.valueOf(known.getMessage()), 1_000));
        }
        return internal();
    }

    private static Problem ofState(String state) {
        String kind = state.substring(0, Math.min(2, state.length()));
        // A pool that lends nothing in time has no state.
        if (kind.isEmpty() || PASSING.contains(kind)) return unavailable();
        if (UNACCEPTABLE.contains(kind))
            return Problem.of(
                    422,
                    "unacceptable-value",
                    "A value in the request cannot be stored: it is out of range, too long, or contradicts another.");
        return internal();
    }

    private static Optional<String> sqlState(Throwable failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause())
            if (cause instanceof SQLException sql)
                return Optional.of(sql.getSQLState() == null ? "" : sql.getSQLState());
        return Optional.empty();
    }

    static Problem unavailable() {
        return Problem.of(
                        503,
                        "unavailable",
                        "The database does not answer at the moment. Nothing was changed that you were not told of; try again.")
                .header("Retry-After", "2");
    }

    static Problem busy() {
        return Problem.of(
                        503,
                        "unavailable",
                        "More requests are being done at the moment than this server can do. Nothing was changed; try again.")
                .header("Retry-After", "1");
    }

    static Problem internal() {
        return Problem.of(
                500, "internal", "This should not happen. The server's log has the cause under this request id.");
    }
}
