package io.carillon.internal.postgres.run;

import static java.util.Objects.requireNonNull;

import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.jdbc.Database;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.internal.jdbc.StorageException;
import io.carillon.internal.postgres.partition.Partitions;
import io.carillon.internal.postgres.stats.EndedRows;
import io.carillon.internal.store.run.BulkAction;
import io.carillon.internal.store.run.BulkChunk;
import io.carillon.internal.store.run.BulkCursor;
import io.carillon.internal.value.TextCleaner;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.RedriveResult;
import io.carillon.run.RunFilter;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Actions on all runs that match a filter, in chunks of at most 1000 runs. A chunk reads the next ids of the project,
 * locks these runs and changes them. It skips runs that other transactions have locked, and leaves them to the end.
 */
final class BulkRunActions {
    private static final int MAX_CHANGED = 1_000;
    /** The largest number of runs that a chunk reads, so that it is short although few of them match. */
    private static final int MAX_READ = 5_000;

    private static final String BEGIN =
            "SELECT carillon.last_run_id(:project, :dead) AS last, carillon.clock() AS existing_at";

    private static final String NEXT_PAGE = """
            SELECT ids, read_to
              FROM carillon.bulk_page(:project, :after, :last, :existing, :queue::text, :handler::text, :state,
                                      :maxRead, :maxChanged)
            """;

    // Rows that are written by their location were locked by an earlier statement of the same transaction. The lateral
    // subquery leaves no index but the primary key, whatever the statistics say.
    private static final String EACH =
            "SELECT e.id, found.* FROM unnest(:ids::uuid[]) AS e(id) CROSS JOIN LATERAL (SELECT ctid AS row_ctid";
    private static final String BY_ID = " AND project = :project AND id BETWEEN e.id AND e.id ORDER BY id LIMIT 1";

    private static final String WAITING = EACH + " FROM carillon.run WHERE owner IS NULL" + BY_ID;

    private static final String CANCEL_MANY = """
            WITH deleted AS (
              DELETE FROM carillon.run WHERE ctid = ANY (:ctids::tid[]) AND carillon.undo_state(project, id) = 'none'
              RETURNING *)
            """ + RunAdminRepository.INSERT_CANCELLED;

    private static final String RUNNING = EACH + " FROM carillon.run r WHERE owner IS NOT NULL"
            + " AND NOT EXISTS (SELECT 1 FROM carillon.cancel_request c WHERE c.project = r.project"
            + " AND c.run_id = r.id)" + BY_ID;

    private static final String CANCEL_MANY_RUNNING = """
            INSERT INTO carillon.cancel_request (project, run_id, reason)
            SELECT project, id, :reason FROM carillon.run WHERE ctid = ANY (:ctids::tid[])
            ON CONFLICT (project, run_id) DO NOTHING RETURNING run_id
            """;

    private static final String MOVABLE =
            EACH + " FROM carillon.run WHERE " + RunAdminRepository.MOVABLE + "due_at <> :due" + BY_ID;

    private static final String DEAD =
            EACH + ", key IS NOT NULL AS keyed FROM carillon.dead_run WHERE state = :state" + BY_ID;

    private static final String REDRIVE_MANY = """
            WITH deleted AS (
              DELETE FROM carillon.dead_run d USING unnest(:ctids::tid[], :ids::uuid[]) AS e(row_ctid, new_id)
               WHERE d.ctid = e.row_ctid RETURNING d.*, e.new_id)
            """ + RunAdminRepository.INSERT_REDRIVEN;

    private static final String DELETE_MANY = "DELETE FROM carillon.dead_run WHERE ctid = ANY (:ctids::tid[])";

    private final Database database;
    private final Partitions partitions;
    private final Uuid7.Sequence ids;
    private final BiFunction<String, List<RunId>, List<RedriveResult>> redrive;
    private final EndedRows endedRows;

    /** Creates the actions; {@code redrive} redrives dead runs of a project one by one. */
    BulkRunActions(
            Database database,
            Partitions partitions,
            Uuid7.Sequence ids,
            BiFunction<String, List<RunId>, List<RedriveResult>> redrive,
            EndedRows endedRows) {
        this.database = database;
        this.partitions = partitions;
        this.ids = ids;
        this.redrive = redrive;
        this.endedRows = endedRows;
    }

    BulkCursor begin(String project, boolean dead) {
        return database.single(session -> session.query(BEGIN)
                .text("project", project)
                .flag("dead", dead)
                .first(row -> {
                    UUID last = row.maybeUuid("last");
                    return new BulkCursor(
                            BulkCursor.MIN_ID,
                            last == null ? BulkCursor.MIN_ID : last,
                            row.instant("existing_at"),
                            List.of());
                })
                .orElseThrow());
    }

    /** Applies the action to the next chunk. */
    BulkChunk apply(String project, RunFilter filter, BulkAction action, BulkCursor cursor) {
        Selection selection = new Selection(project, filter, action);
        if (cursor.isFinished()) return new BulkChunk(0, cursor, false);
        try {
            if (action instanceof BulkAction.Redrive) return redriveChunk(selection, cursor);
            return partitions.creatingMissing(() -> database.transaction(session -> {
                Chunk chunk = lockNext(session, selection, cursor);
                return chunk.result(chunk.rows.isEmpty() ? 0 : change(session, selection, chunk.ctids()));
            }));
        } catch (StorageException failure) {
            // Another transaction locks a gate or a partition. A failure aborts the caller's transaction.
            if (!failure.isLockTimeout() || database.isInCallerTransaction()) throw failure;
            return new BulkChunk(0, cursor, true);
        }
    }

    /** Waits until a run that other transactions lock is free, at most two seconds. */
    void awaitUnlocked(String project, RunFilter filter, BulkAction action, BulkCursor cursor) {
        if (cursor.locked().isEmpty()) return;
        Selection selection = new Selection(project, filter, action);
        try {
            database.transaction(
                    session -> selection.rows(session, cursor.locked().subList(0, 1), selection.lock()));
        } catch (StorageException failure) {
            // A failure aborts the caller's transaction, and the caller chooses how long to wait.
            if (!failure.isLockTimeout() || database.isInCallerTransaction()) throw failure;
        }
    }

    /** The runs to which a bulk action applies. */
    private record Selection(String project, RunFilter filter, BulkAction action) {
        private RunState state() {
            return requireNonNull(filter.state());
        }

        /** Returns the kind of lock: a request to cancel a running run only has to be ordered with its release. */
        String lock() {
            return state() == RunState.RUNNING ? " FOR SHARE" : " FOR UPDATE";
        }

        private String candidates() {
            return switch (state()) {
                case WAITING -> action instanceof BulkAction.Reschedule ? MOVABLE : WAITING;
                case RUNNING -> RUNNING;
                default -> DEAD;
            };
        }

        /** Returns those of the given runs to which the action applies now, in the given order. */
        List<LockedRow> rows(Session session, List<UUID> ids, String lock) throws SQLException {
            if (ids.isEmpty()) return List.of();
            Query query = session.query(candidates() + lock + ") found")
                    .text("project", project)
                    .uuids("ids", ids);
            boolean dead = candidates().equals(DEAD);
            if (dead) query.text("state", state().text());
            if (action instanceof BulkAction.Reschedule to) query.instant("due", to.due());
            return query.list(row -> LockedRow.read(row, dead));
        }
    }

    /** A row to change; {@code keyed} if it is a dead run with a unique key. */
    private record LockedRow(UUID id, String ctid, boolean keyed) {
        static LockedRow read(Row row, boolean dead) throws SQLException {
            return new LockedRow(row.uuid("id"), row.text("row_ctid"), dead && row.flag("keyed"));
        }
    }

    /** The locked rows of a chunk; {@code retried} if no new runs were read. */
    private record Chunk(List<LockedRow> rows, BulkCursor next, boolean retried) {
        List<String> ctids() {
            return rows.stream().map(LockedRow::ctid).toList();
        }

        BulkChunk result(int done) {
            return new BulkChunk(done, next, retried && rows.isEmpty() && !next.isFinished());
        }
    }

    private record Page(List<UUID> ids, @Nullable UUID readTo) {}

    private static Chunk lockNext(Session session, Selection selection, BulkCursor cursor) throws SQLException {
        // Many locked runs are retried before new runs are read, so that the cursor stays small.
        boolean retried = cursor.isAllRead() || cursor.locked().size() >= MAX_CHANGED;
        List<UUID> waiting = cursor.locked();
        List<UUID> next = retried ? waiting.subList(0, Math.min(MAX_CHANGED, waiting.size())) : List.of();
        List<UUID> locked = new ArrayList<>(waiting.subList(next.size(), waiting.size()));
        UUID after = cursor.after();
        if (!retried) {
            Page page = nextPage(session, selection, cursor);
            next = page.ids();
            after = page.readTo() == null ? cursor.last() : page.readTo();
        }
        List<LockedRow> rows = selection.rows(session, next, selection.lock() + " SKIP LOCKED");
        if (rows.size() < next.size()) {
            Set<UUID> skipped = new HashSet<>(next);
            rows.forEach(row -> skipped.remove(row.id()));
            List<UUID> inOrder = next.stream().filter(skipped::contains).toList();
            selection.rows(session, inOrder, "").forEach(row -> locked.add(row.id()));
        }
        return new Chunk(rows, new BulkCursor(after, cursor.last(), cursor.existingAt(), locked), retried);
    }

    private static Page nextPage(Session session, Selection selection, BulkCursor cursor) throws SQLException {
        return RunAdminRepository.bindFilter(session.query(NEXT_PAGE), selection.project, selection.filter)
                .uuid("after", cursor.after())
                .uuid("last", cursor.last())
                .instant("existing", cursor.existingAt())
                .text("state", selection.state().text())
                .number("maxRead", MAX_READ)
                .number("maxChanged", MAX_CHANGED)
                .first(row -> new Page(row.uuids("ids"), row.maybeUuid("read_to")))
                .orElseThrow();
    }

    private int change(Session session, Selection selection, List<String> ctids) throws SQLException {
        if (selection.action instanceof BulkAction.Reschedule to)
            return RunAdminRepository.setDueTime(session, ctids, to.due());
        if (selection.action instanceof BulkAction.Cancel cancel)
            return cancelMany(session, selection.state() == RunState.WAITING, ctids, cancel.reason());
        return RunAdminRepository.bindCtids(session.query(DELETE_MANY), ctids).update();
    }

    private int cancelMany(Session session, boolean waiting, List<String> ctids, String reason) throws SQLException {
        String clean = TextCleaner.clean(reason);
        int ended = 0;
        if (waiting) {
            Query cancel = RunAdminRepository.bindCtids(session.query(CANCEL_MANY), ctids)
                    .text("reason", clean);
            ended = endedRows.count(session, cancel, Count.CANCELLED);
            if (ended == ctids.size()) return ended;
        }
        // What is left of waiting runs are workflows with steps to undo.
        Query request = RunAdminRepository.bindCtids(session.query(CANCEL_MANY_RUNNING), ctids)
                .text("reason", clean);
        int requested = request.list(row -> row).size();
        if (requested > 0) session.query(RunAdminRepository.NOTIFY_CANCEL).list(row -> row);
        return ended + requested;
    }

    /** Redrives runs with a key one by one, after the others: two of them may have the same key. */
    private BulkChunk redriveChunk(Selection selection, BulkCursor cursor) {
        List<RunId> keyed = new ArrayList<>();
        BulkChunk chunk = database.transaction(session -> {
            keyed.clear();
            Chunk next = lockNext(session, selection, cursor);
            next.rows.stream().filter(LockedRow::keyed).forEach(row -> keyed.add(new RunId(row.id())));
            List<String> ctids = next.rows.stream()
                    .filter(row -> !row.keyed())
                    .map(LockedRow::ctid)
                    .toList();
            Query redrive = RunAdminRepository.bindCtids(session.query(REDRIVE_MANY), ctids)
                    .column("ids", "uuid", ctids, place -> ids.next());
            return next.result(endedRows.count(session, redrive, Count.REDRIVEN));
        });
        int redriven = (int) redrive.apply(selection.project, keyed).stream()
                .filter(RedriveResult.Redriven.class::isInstance)
                .count();
        return new BulkChunk(chunk.done() + redriven, chunk.next(), chunk.blocked());
    }
}
