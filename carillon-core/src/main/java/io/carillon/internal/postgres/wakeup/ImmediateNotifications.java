package io.carillon.internal.postgres.wakeup;

import io.carillon.internal.value.ControlCharacters;
import java.lang.reflect.Field;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.core.PGStream;
import org.postgresql.core.QueryExecutorBase;
import org.postgresql.jdbc.PgConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the driver return a notification as soon as it arrives. Without this, the driver waits one more millisecond for
 * further notifications, about as long as the rest of a wake-up takes. The driver has no setting for the wait. It has a
 * private field with a time before which it does not wait; this class sets that field. If the field is not accessible
 * (another version of the driver, or strong encapsulation of modules), notifications arrive one millisecond later, and
 * nothing else changes.
 */
final class ImmediateNotifications {
    private static final Logger log = LoggerFactory.getLogger(ImmediateNotifications.class);

    private ImmediateNotifications() {}

    /** Switches the wait off. The connection must not copy data meanwhile. */
    static void enable(Connection connection) {
        setNextCheckTime(connection, Long.MAX_VALUE);
    }

    /** Switches the wait on again, because the connection returns to its pool. */
    static void disable(Connection connection) {
        setNextCheckTime(connection, 0);
    }

    private static void setNextCheckTime(Connection connection, long millis) {
        try {
            Object executor = connection.unwrap(PgConnection.class).getQueryExecutor();
            Field stream = QueryExecutorBase.class.getDeclaredField("pgStream");
            Field time = PGStream.class.getDeclaredField("nextStreamAvailableCheckTime");
            stream.setAccessible(true);
            time.setAccessible(true);
            time.setLong(stream.get(executor), millis);
        } catch (SQLException | ReflectiveOperationException | RuntimeException | LinkageError unreachable) {
            log.debug(
                    "notifications arrive 1 ms later with this driver reason={}",
                    ControlCharacters.escape(unreachable));
        }
    }
}
