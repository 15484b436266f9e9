package io.carillon.postgres;

import java.lang.reflect.Field;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.core.PGStream;
import org.postgresql.core.QueryExecutorBase;
import org.postgresql.jdbc.PgConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the driver hand over a signal as soon as it came. After each one it waits another millisecond for the next, which is as long as all the rest of a wake-up
 * takes, and has no setting for that: the time before which it does not wait is a field of its own. Where that field cannot be reached, as in another version of
 * the driver or behind the wall of a module, signals come a millisecond later and nothing else changes.
 */
final class PromptSignals {
    private static final Logger log = LoggerFactory.getLogger(PromptSignals.class);

    private PromptSignals() {}

    /** From now on. The connection must not copy data meanwhile. */
    static void begin(Connection connection) {
        noWaitingBefore(connection, Long.MAX_VALUE);
    }

    /** As it was: the connection goes back to its pool. */
    static void end(Connection connection) {
        noWaitingBefore(connection, 0);
    }

    private static void noWaitingBefore(Connection connection, long millis) {
        try {
            Object executor = connection.unwrap(PgConnection.class).getQueryExecutor();
            Field stream = QueryExecutorBase.class.getDeclaredField("pgStream");
            Field time = PGStream.class.getDeclaredField("nextStreamAvailableCheckTime");
            stream.setAccessible(true);
            time.setAccessible(true);
            time.setLong(stream.get(executor), millis);
        } catch (SQLException | ReflectiveOperationException | RuntimeException | LinkageError unreachable) {
            log.debug("signals come a millisecond later with this driver reason={}", unreachable.toString());
        }
    }
}
