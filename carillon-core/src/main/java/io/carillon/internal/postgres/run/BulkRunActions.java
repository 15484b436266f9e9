package io.carillon.internal.postgres.run;

import static java.util.Objects.requireNonNull;

import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.attempt.AttemptRows;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.store.run.BulkAction;
import io.carillon.internal.store.run.RunAdmin;
import io.carillon.internal.value.TextCleaner;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.RedriveResult;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Actions on all runs that match a filter, in batches of at most 1000 runs. */
final class BulkRunActions {
    // Matches only runs that existed at an instant, so that a bulk action ends however many runs arrive meanwhile.
    private static final String MATCHING =
            RunAdminRepository.FILTER + " AND (:existing::timestamptz IS NULL" + " OR created_at <= :existing)";

    private static final String MATCHING_DEAD =
            RunAdminRepository.FILTER + " AND (:existing::timestamptz IS NULL OR died_at <= :existing)";

    // Rows that are written by their location were locked by an earlier statement of the same transaction.
    private static final String LOCK_WAITING = "SELECT ctid AS row_ctid FROM carillon.run WHERE owner IS NULL AND "
            + MATCHING + " LIMIT 1000 FOR UPDATE SKIP LOCKED";

    private static final String CANCEL_MANY = """
            WITH deleted AS (DELETE FROM carillon.run WHERE ctid = ANY (:ctids::tid[]) RETURNING *)
            """ + RunAdminRepository.INSERT_CANCELLED;

    private static final String LOCK_RUNNING = "SELECT ctid AS row_ctid FROM carillon.run r WHERE owner IS NOT NULL"
            + " AND NOT EXISTS (SELECT 1 FROM carillon.cancel_request c WHERE c.project = r.project"
            + " AND c.run_id = r.id) AND "
            + MATCHING + " LIMIT 1000 FOR SHARE SKIP LOCKED";

    private static final String CANCEL_MANY_RUNNING = """
            INSERT INTO carillon.cancel_request (project, run_id, reason)
            SELECT project, id, :reason FROM carillon.run WHERE ctid = ANY (:ctids::tid[])
            ON CONFLICT (project, run_id) DO NOTHING RETURNING run_id
            """;

    private static final String LOCK_MOVABLE_MANY = "SELECT ctid AS row_ctid FROM carillon.run"
            + " WHERE " + RunAdminRepository.MOVABLE
            + "due_at <> :due AND " + MATCHING + " LIMIT 1000 FOR UPDATE SKIP LOCKED";

    // Runs with a key are redriven one by one: two of them may have the same key.
    private static final String LOCK_DEAD = "SELECT ctid AS row_ctid FROM carillon.dead_run WHERE state = :state AND "
            + MATCHING_DEAD + " AND (:keyed OR key IS NULL) LIMIT 1000 FOR UPDATE SKIP LOCKED";

    private static final String REDRIVE_MANY = """
            WITH deleted AS (
              DELETE FROM carillon.dead_run d USING unnest(:ctids::tid[], :ids::uuid[]) AS e(row_ctid, new_id)
               WHERE d.ctid = e.row_ctid RETURNING d.*, e.new_id)
            """ + RunAdminRepository.INSERT_REDRIVEN;

    private static final String DEAD_WITH_KEY =
            "SELECT id FROM carillon.dead_run d WHERE key IS NOT NULL AND state = :state AND "
                    + MATCHING_DEAD
                    + " AND NOT EXISTS (SELECT 1 FROM carillon.run r WHERE r.project = d.project"
                    + " AND r.target_name = d.target_name AND r.key = d.key) LIMIT 1000";

    private static final String DELETE_MANY = "DELETE FROM carillon.dead_run WHERE ctid = ANY (:ctids::tid[])";

    private final Database database;
    private final Partitions partitions;
    private final Uuid7.Sequence ids;
    private final BiFunction<String, List<RunId>, List<RedriveResult>> redrive;

    /** Creates the actions; {@code redrive} redrives dead runs of a project one by one. */
    BulkRunActions(
            Database database,
            Partitions partitions,
            Uuid7.Sequence ids,
            BiFunction<String, List<RunId>, List<RedriveResult>> redrive) {
        this.database = database;
        this.partitions = partitions;
        this.ids = ids;
        this.redrive = redrive;
    }

    /** Applies the action to the next batch; {@code existing} excludes runs that were created later. */
    int apply(String project, RunFilter filter, BulkAction action, @Nullable Instant existing) {
        BulkSelection bulkSelection = new BulkSelection(project, filter, existing);
        try {
            if (action instanceof BulkAction.Redrive) return redriveMany(bulkSelection);
            return partitions.creatingMissing(
                    () -> database.transaction(session -> nextBatch(session, bulkSelection, action)));
        } catch (StorageException failure) {
            // A failure aborts the caller's transaction, and the caller chooses how long to wait.
            if (!failure.isLockTimeout() || database.isInCallerTransaction()) throw failure;
            return RunAdmin.LOCKED;
        }
    }

    private static int nextBatch(Session session, BulkSelection bulkSelection, BulkAction action) throws SQLException {
        if (action instanceof BulkAction.Cancel cancel) return cancelMany(session, bulkSelection, cancel.reason());
        if (action instanceof BulkAction.Reschedule to) {
            Binding due = lock -> bulkSelection.bind(lock).instant("due", to.due());
            return RunAdminRepository.setDueTime(session, nextBatch(session, LOCK_MOVABLE_MANY, due), to.due());
        }
        return RunAdminRepository.bindCtids(session.query(DELETE_MANY), nextDeadBatch(session, bulkSelection, true))
                .update();
    }

    /** The runs to which a bulk action applies. */
    private record BulkSelection(
            String project, RunFilter filter, @Nullable Instant existingAt) {
        Query bind(Query query) throws SQLException {
            return RunAdminRepository.bindFilter(query, project, filter).instant("existing", existingAt);
        }

        Query bindDead(Query query) throws SQLException {
            return bind(query).text("state", requireNonNull(filter.state()).text());
        }
    }

    @FunctionalInterface
    private interface Binding {
        Query bind(Query lock) throws SQLException;
    }

    /** Locks the next rows; waits if all are locked by others: an empty result means that none is left. */
    private static List<String> nextBatch(Session session, String lock, Binding binding) throws SQLException {
        List<String> free = RunAdminRepository.lockCtids(binding.bind(session.query(lock)));
        if (!free.isEmpty()) return free;
        return RunAdminRepository.lockCtids(binding.bind(session.query(lock.replace(" SKIP LOCKED", ""))));
    }

    private static List<String> nextDeadBatch(Session session, BulkSelection bulkSelection, boolean keyed)
            throws SQLException {
        return nextBatch(
                session, LOCK_DEAD, lock -> bulkSelection.bindDead(lock).flag("keyed", keyed));
    }

    private static int cancelMany(Session session, BulkSelection bulkSelection, String reason) throws SQLException {
        boolean waiting = bulkSelection.filter.state() == RunState.WAITING;
        List<String> ctids = nextBatch(session, waiting ? LOCK_WAITING : LOCK_RUNNING, bulkSelection::bind);
        int done = RunAdminRepository.bindCtids(session.query(waiting ? CANCEL_MANY : CANCEL_MANY_RUNNING), ctids)
                .text("reason", TextCleaner.clean(reason))
                .list(row -> row)
                .size();
        if (done > 0 && !waiting)
            session.query(RunAdminRepository.NOTIFY_CANCEL).list(row -> row);
        // Other transactions have requested the cancel of these runs meanwhile: there may be more runs.
        return done > 0 || ctids.isEmpty() ? done : cancelMany(session, bulkSelection, reason);
    }

    private int redriveMany(BulkSelection bulkSelection) {
        int many = database.transaction(session -> {
            List<String> ctids = nextDeadBatch(session, bulkSelection, false);
            return RunAdminRepository.bindCtids(session.query(REDRIVE_MANY), ctids)
                    .column("ids", "uuid", ctids, place -> ids.next())
                    .list(row -> row)
                    .size();
        });
        if (many > 0) return many;
        List<RunId> keyed = database.single(session ->
                bulkSelection.bindDead(session.query(DEAD_WITH_KEY)).list(row -> AttemptRows.runId(row, "id")));
        return (int) redrive.apply(bulkSelection.project, keyed).stream()
                .filter(RedriveResult.Redriven.class::isInstance)
                .count();
    }
}
