package io.carillon.server.api;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.value.ControlCharacters;
import io.carillon.internal.value.PublicId;
import io.carillon.server.http.ErrorMapping;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.Problem;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.BulkRepository;
import io.carillon.server.store.BulkRepository.BulkActionKey;
import io.carillon.server.store.BulkRepository.BulkActionRecord;
import io.carillon.server.store.BulkRepository.State;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes the bulk actions of all projects in chunks of a thousand runs. A chunk and its count commit together, so no
 * run is changed twice or left out, even if another node continues the action.
 */
public final class BulkWorker {
    static final String PREFIX = "blk";

    private static final Logger log = LoggerFactory.getLogger(BulkWorker.class);
    /** The maximum delay before another node continues the actions of a dead node. */
    private static final Duration POLL_INTERVAL = Duration.ofSeconds(5);

    private final ServerContext context;
    private final BulkRepository actions;
    private final Semaphore wakeups = new Semaphore(0);

    public BulkWorker(ServerContext context) {
        this.context = context;
        this.actions = context.repositories().bulk();
    }

    /** Makes the worker run immediately, because an action was added. */
    void wake() {
        wakeups.release();
    }

    /** Waits for a wake-up or the poll interval, then executes all running actions. */
    public void runOnce() throws InterruptedException {
        if (wakeups.tryAcquire(POLL_INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) wakeups.drainPermits();
        Set<BulkActionKey> postponed = new HashSet<>();
        try {
            while (runChunks(postponed)) if (Thread.interrupted()) throw new InterruptedException("closing");
        } catch (RuntimeException failure) {
            log.warn("bulk actions failed; will retry", failure);
        }
    }

    /** Executes one chunk of each action that is not postponed. Returns false if this node has nothing more to do. */
    private boolean runChunks(Set<BulkActionKey> postponed) {
        boolean any = false;
        for (BulkActionKey bulkActionKey : actions.running())
            if (!postponed.contains(bulkActionKey)) any |= runChunk(bulkActionKey, postponed);
        return any;
    }

    private boolean runChunk(BulkActionKey bulkActionKey, Set<BulkActionKey> postponed) {
        List<Runnable> hints = new ArrayList<>();
        try {
            boolean worked = context.transactions().runInProject(bulkActionKey.project(), session -> {
                hints.clear();
                BulkActionRecord bulkActionRecord =
                        actions.lockRunning(session, bulkActionKey).orElse(null);
                if (bulkActionRecord == null) return false;
                int done = context.carillon()
                        .project(bulkActionKey.project())
                        .in(session.connection(), hints::add)
                        .runs()
                        .bulk(bulkActionRecord.request().filter())
                        .applyChunk(bulkActionRecord.request().operation(), bulkActionRecord.createdAt());
                actions.addDone(session, bulkActionKey, done);
                if (done == 0) end(session, bulkActionKey, bulkActionRecord, State.DONE, null);
                return true;
            });
            hints.forEach(Runnable::run);
            return worked;
        } catch (RuntimeException failure) {
            Problem problem = ErrorMapping.toProblem(failure);
            if (problem.status() == 503) {
                if (!context.transactions().isReachable()) throw failure;
                // For example, another transaction holds the lock of a run: this postpones only this action.
                postponed.add(bulkActionKey);
                log.warn(
                        "bulk action interrupted; will retry project={} id={} cause={}",
                        bulkActionKey.project(),
                        bulkActionKey.id(),
                        ControlCharacters.escape(failure.getMessage()));
                return false;
            }
            log.warn("bulk action failed project={} id={}", bulkActionKey.project(), bulkActionKey.id(), failure);
            markFailed(bulkActionKey, problem.code());
            return true;
        }
    }

    private void markFailed(BulkActionKey bulkActionKey, String code) {
        context.transactions().runInProject(bulkActionKey.project(), session -> {
            BulkActionRecord bulkActionRecord =
                    actions.lockRunning(session, bulkActionKey).orElse(null);
            if (bulkActionRecord != null) end(session, bulkActionKey, bulkActionRecord, State.FAILED, code);
            return bulkActionKey;
        });
    }

    private void end(
            Session session,
            BulkActionKey bulkActionKey,
            BulkActionRecord bulkActionRecord,
            State state,
            @Nullable String reason)
            throws SQLException {
        actions.end(session, bulkActionKey, state, reason);
        long done = actions.addDone(session, bulkActionKey, 0);
        context.repositories()
                .audit()
                .write(
                        session,
                        bulkActionKey.project(),
                        new AuditRepository.Change(
                                bulkActionRecord.request().actor(),
                                "bulk.end",
                                "bulk/" + PublicId.format(PREFIX, bulkActionKey.id()),
                                "{\"state\":\"%s\",\"done\":%d}".formatted(JsonFields.enumText(state), done),
                                bulkActionRecord.request().requestId()));
    }
}
