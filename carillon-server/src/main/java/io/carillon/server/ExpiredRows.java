package io.carillon.server;

import io.carillon.server.api.ServerContext;
import java.time.Duration;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Deletes rows of the server's own tables that are no longer needed. */
final class ExpiredRows {
    private static final Logger log = LoggerFactory.getLogger(ExpiredRows.class);

    /** How often rows are deleted. */
    static final Duration INTERVAL = Duration.ofMinutes(10);

    private ExpiredRows() {}

    /** Deletes expired rows in short statements until none is left. */
    static void delete(ServerContext.Repositories repositories, Duration auditRetention) {
        deleteAll("idempotency", () -> repositories.idempotency().deleteExpired());
        deleteAll("bulk_action", () -> repositories.bulk().deleteExpired());
        deleteAll("user_session", () -> repositories.users().deleteExpired());
        deleteAll("app_user", () -> repositories.users().deleteUnused());
        deleteAll("audit", () -> repositories.audit().deleteOlderThan(auditRetention));
    }

    private static void deleteAll(String table, IntSupplier part) {
        try {
            while (part.getAsInt() > 0 && !Thread.currentThread().isInterrupted()) {}
        } catch (RuntimeException failure) {
            log.warn("could not remove old rows; will retry table={}", table, failure);
        }
    }
}
