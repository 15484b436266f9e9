package io.carillon;

import java.util.Locale;

/** The stable codes of {@link CarillonException}. Programs may depend on them; messages may change. */
public enum ErrorCode {
    ALREADY_CLOSED,
    CRON_SYNTAX,
    DATABASE_UNREACHABLE,
    DUPLICATE_HANDLER,
    DUPLICATE_SCHEDULE,
    HISTORY_DROPPED,
    INVALID_NAME,
    INVALID_OPTION,
    JSON_LIBRARY_MISSING,
    LEASE_LOST,
    MALFORMED_ID,
    NO_INSTANTS,
    PAYLOAD_TOO_LARGE,
    PAYLOAD_UNREADABLE,
    PAYLOAD_UNWRITABLE,
    POOL_TOO_SMALL,
    RUN_NOT_WORKFLOW,
    SCHEDULE_UNREADABLE,
    SCHEMA_CHANGED,
    SCHEMA_TOO_NEW,
    SCHEMA_TOO_OLD,
    SEARCH_TOO_LONG,
    STORAGE,
    TOO_MANY_SIGNALS,
    UNKNOWN_ENDPOINT,
    UNKNOWN_HANDLER,
    UNKNOWN_PROJECT,
    UNKNOWN_RUN,
    UNKNOWN_SCHEDULE,
    UNKNOWN_SUBSCRIPTION,
    UNKNOWN_ZONE,
    UNSUITABLE_DATA_SOURCE,
    VERSION_CONFLICT;

    /** Returns the code as written in logs and in REST responses, such as {@code no-instants}. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
