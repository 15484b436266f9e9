package io.carillon.server.api;

import io.carillon.BulkActions;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes the bulk actions of all projects in chunks of a thousand runs. A chunk, its count and the position after it
 * commit together, so no run is changed twice or left out, even if another node continues the action. In each turn,
 * every project with a running action gets one chunk.
 */
public final class BulkWorker {
    static final String PREFIX = "blk";

    private static final Logger log = LoggerFactory.getLogger(BulkWorker.class);
    /** The maximum delay before another node continues the actions of a dead node. */
    private static final Duration POLL_INTERVAL = Duration.ofSeconds(5);

    private static final Duration LONGEST_REST = Duration.ofSeconds(1);

    private final ServerContext context;
    private final BulkRepository actions;
    private final QuotaCheck quotaCheck;
    private final Semaphore wakeups = new Semaphore(0);
    /** Actions that cannot continue now, with the time of {@link System#nanoTime} when they are tried again. */
    private final Map<UUID, Long> postponedUntil = new HashMap<>();

    public BulkWorker(ServerContext context, QuotaCheck quotaCheck) {
        this.context = context;
        this.quotaCheck = quotaCheck;
        this.actions = context.repositories().bulk();
    }

    /** Makes the worker run immediately, because an action was added. */
    void wake() {
        wakeups.release();
    }

    /** Waits for a wake-up or the poll interval, then executes all running actions. */
    public void runOnce() throws InterruptedException {
        if (wakeups.tryAcquire(POLL_INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) wakeups.drainPermits();
        try {
            boolean more = true;
            while (more) {
                long began = System.nanoTime();
                more = runChunks();
                if (Thread.interrupted()) throw new InterruptedException("closing");
                if (more) rest(System.nanoTime() - began);
            }
        } catch (RuntimeException failure) {
            log.warn("bulk actions failed; will retry", failure);
        }
    }

    /**
     * Leaves the database to other work for as long as the chunks took: bulk actions may follow each other endlessly.
     */
    private static void rest(long nanos) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(Math.min(nanos, LONGEST_REST.toNanos()));
    }

    /** Executes one chunk for each project. Returns false if this node has nothing more to do now. */
    private boolean runChunks() {
        long now = System.nanoTime();
        postponedUntil.values().removeIf(until -> now - until >= 0);
        boolean any = false;
        for (BulkActionKey bulkActionKey : actions.next(postponedUntil.keySet())) any |= runChunk(bulkActionKey);
        return any;
    }

    private boolean runChunk(BulkActionKey bulkActionKey) {
        List<Runnable> hints = new ArrayList<>();
        try {
            boolean worked = context.transactions().runInProject(bulkActionKey.project(), session -> {
                hints.clear();
                BulkActionRecord bulkActionRecord =
                        actions.lockRunning(session, bulkActionKey).orElse(null);
                return bulkActionRecord != null && applyChunk(session, bulkActionKey, bulkActionRecord, hints::add);
            });
            hints.forEach(Runnable::run);
            // Another node works on it, other transactions lock the runs that are left, or the quota is used up.
            if (!worked) postpone(bulkActionKey);
            return worked;
        } catch (RuntimeException failure) {
            Problem problem = ErrorMapping.toProblem(failure);
            if (problem.status() == 503) {
                if (!context.transactions().isReachable()) throw failure;
                // For example, another transaction holds a lock on the table: this postpones only this action.
                postpone(bulkActionKey);
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

    private void postpone(BulkActionKey bulkActionKey) {
        postponedUntil.put(bulkActionKey.id(), System.nanoTime() + POLL_INTERVAL.toNanos());
    }

    /**
     * Returns false if other transactions lock all runs that are left, or if the project has as many runs as it may
     * have: a redrive waits until some of them have ended. It may exceed the quota by one chunk.
     */
    private boolean applyChunk(
            Session session, BulkActionKey bulkActionKey, BulkActionRecord action, Consumer<Runnable> hints)
            throws SQLException {
        boolean addsRuns = action.request().operation() instanceof BulkActions.Action.Redrive;
        if (addsRuns && !quotaCheck.tryAddRuns(session, bulkActionKey.project(), 1)) return false;
        BulkActions.Chunk chunk = context.carillon()
                .project(bulkActionKey.project())
                .in(session.connection(), hints)
                .runs()
                .bulk(action.request().filter())
                .applyChunk(action.request().operation(), action.cursor());
        if (addsRuns) quotaCheck.addRuns(bulkActionKey.project(), chunk.done() - 1);
        long done = actions.advance(session, bulkActionKey, chunk.done(), chunk.next());
        if (chunk.finished()) end(session, bulkActionKey, action, new BulkRepository.Progress(State.DONE, null, done));
        return !chunk.blocked();
    }

    private void markFailed(BulkActionKey bulkActionKey, String code) {
        context.transactions().runInProject(bulkActionKey.project(), session -> {
            BulkActionRecord bulkActionRecord =
                    actions.lockRunning(session, bulkActionKey).orElse(null);
            if (bulkActionRecord != null)
                end(
                        session,
                        bulkActionKey,
                        bulkActionRecord,
                        new BulkRepository.Progress(
                                State.FAILED, code, bulkActionRecord.progress().done()));
            return bulkActionKey;
        });
    }

    private void end(
            Session session, BulkActionKey bulkActionKey, BulkActionRecord action, BulkRepository.Progress progress)
            throws SQLException {
        actions.end(session, bulkActionKey, progress.state(), progress.reason());
        context.repositories()
                .audit()
                .write(
                        session,
                        bulkActionKey.project(),
                        new AuditRepository.Change(
                                action.request().actor(),
                                "bulk.end",
                                "bulk/" + PublicId.format(PREFIX, bulkActionKey.id()),
                                "{\"state\":\"%s\",\"done\":%d}"
                                        .formatted(JsonFields.enumText(progress.state()), progress.done()),
                                action.request().requestId()));
    }
}
