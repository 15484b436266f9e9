package io.carillon.server.http;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.TextCleaner;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Maps exceptions to problem responses. Messages of the database are never shown to callers. */
public final class ErrorMapping {
    private static final Map<ErrorCode, Integer> STATUS = new EnumMap<>(ErrorCode.class);
    /**
     * SQLSTATE classes of conditions that may pass: the database is unreachable, full, busy, read-only or gave up. The
     * same request may succeed later.
     */
    private static final Set<String> TRANSIENT_SQL_STATES = Set.of("08", "53", "55", "57", "40", "25", "58");
    /** SQLSTATE classes that mean that the database rejected a value of the request. */
    private static final Set<String> INVALID_INPUT_SQL_STATES = Set.of("22", "23", "54");

    static {
        for (ErrorCode code : ErrorCode.values()) STATUS.put(code, status(code));
    }

    private ErrorMapping() {}

    private static int status(ErrorCode code) {
        return switch (code) {
            case CRON_SYNTAX,
                    INVALID_NAME,
                    INVALID_OPTION,
                    NO_INSTANTS,
                    SEARCH_TOO_LONG,
                    HISTORY_DROPPED,
                    UNKNOWN_ZONE,
                    PAYLOAD_UNREADABLE,
                    PAYLOAD_UNWRITABLE,
                    UNKNOWN_ENDPOINT,
                    UNKNOWN_HANDLER,
                    DUPLICATE_HANDLER,
                    DUPLICATE_SCHEDULE -> 422;
            case PAYLOAD_TOO_LARGE -> 413;
            case MALFORMED_ID, UNKNOWN_PROJECT, UNKNOWN_RUN, UNKNOWN_SCHEDULE, UNKNOWN_SUBSCRIPTION -> 404;
            case VERSION_CONFLICT, LEASE_LOST, SCHEDULE_UNREADABLE, RUN_NOT_WORKFLOW, TOO_MANY_SIGNALS -> 409;
            case ALREADY_CLOSED, DATABASE_UNREACHABLE, SCHEMA_CHANGED, SCHEMA_TOO_NEW, SCHEMA_TOO_OLD -> 503;
            case STORAGE, POOL_TOO_SMALL, JSON_LIBRARY_MISSING, UNSUITABLE_DATA_SOURCE -> 500;
        };
    }

    /** Returns the problem to send for an exception. */
    public static Problem toProblem(Throwable failure) {
        if (failure instanceof Problem problem) return problem;
        Optional<String> state = sqlState(failure);
        if (state.isPresent()) return problemForSqlState(state.get());
        if (failure instanceof CarillonException known) {
            int status = STATUS.getOrDefault(known.code(), 500);
            if (status == 503) return unavailable();
            if (status == 500) return internal();
            return Problem.of(
                    status, known.code().text(), TextCleaner.clean(String.valueOf(known.getMessage()), 1_000));
        }
        return internal();
    }

    private static Problem problemForSqlState(String state) {
        String kind = state.substring(0, Math.min(2, state.length()));
        // A pool that times out without a free connection throws an exception without a SQLSTATE.
        if (kind.isEmpty() || TRANSIENT_SQL_STATES.contains(kind)) return unavailable();
        if (INVALID_INPUT_SQL_STATES.contains(kind))
            return Problem.of(
                    422,
                    "unacceptable-value",
                    "A value in the request cannot be stored: it is out of range, too long, or conflicts with another "
                            + "value.");
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
                        "The database is unavailable or busy. A requested change may or may not have been made. "
                                + "Try again later.")
                .withHeader("Retry-After", "2");
    }

    static Problem busy() {
        return Problem.of(
                        503,
                        "unavailable",
                        "The server is handling its maximum number of concurrent requests. Nothing was changed. "
                                + "Try again later.")
                .withHeader("Retry-After", "1");
    }

    /** Returns a problem with status 503: this many enqueues of the project wait in transactions of their own. */
    public static Problem enqueuesBusy(int transactions) {
        return Problem.of(
                        503,
                        "unavailable",
                        ("The project has %d slow enqueues in progress, as many as it may have. Nothing was changed. "
                                        + "Try again later.")
                                .formatted(transactions))
                .withHeader("Retry-After", "1");
    }

    static Problem projectBusy() {
        return Problem.of(
                        503,
                        "unavailable",
                        "The project has as many requests in progress as it may have now: half of what other projects "
                                + "leave. Nothing was changed. Try again later.")
                .withHeader("Retry-After", "1");
    }

    static Problem noTurn() {
        return Problem.of(
                        503,
                        "unavailable",
                        "The requests of the project that are in progress use the server for too long. Nothing was "
                                + "changed. Try again later, with fewer requests at the same time.")
                .withHeader("Retry-After", "1");
    }

    static Problem noMemory() {
        return Problem.of(
                        503,
                        "unavailable",
                        "The requests of the project that are in progress, and responses that its clients have "
                                + "not read, "
                                + "use the memory that they may use now. Nothing was changed. Try again later, or send "
                                + "or ask for less in one request.")
                .withHeader("Retry-After", "1");
    }

    static Problem bodyTooLarge(int maxBytes) {
        return Problem.of(
                413,
                "body-too-large",
                "The body must have at most %d bytes. Send less in one request.".formatted(maxBytes));
    }

    static Problem bodyIncomplete() {
        return Problem.of(400, "body-incomplete", "The body ended before it was complete. Send it again.");
    }

    static Problem internal() {
        return Problem.of(500, "internal", "Internal error. The server log contains the cause under this request id.");
    }
}
