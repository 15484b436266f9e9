package io.carillon.internal.postgres.wakeup;

import java.lang.reflect.Field;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.core.PGStream;
import org.postgresql.core.QueryExecutorBase;
import org.postgresql.jdbc.PgConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A switch that makes the driver return a notification as soon as it arrives. After each notification the driver waits
 * one more millisecond for the next, which is as long as the rest of a wake-up takes. It has no setting for this, but a
 * private field with the time before which it does not wait. If that field is not accessible, as in another version of
 * the driver or under strong encapsulation of modules, notifications arrive one millisecond later and nothing else
 * changes.
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
            log.debug("notifications arrive 1 ms later with this driver reason={}", unreachable.toString());
        }
    }
}
