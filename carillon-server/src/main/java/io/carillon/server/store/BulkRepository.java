package io.carillon.server.store;

import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.store.BulkAction;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Bulk actions with their progress and result. A worker holds the lock of the action's row while it works on it. */
public final class BulkRepository {
    private static final String COLUMNS = """
            SELECT id, action, run_state, queue, handler, due_at, state, reason, matching, done, actor, request, created_at, ended_at
              FROM carillon.bulk_action WHERE project = ?
            """;

    private static final String GET = COLUMNS + " AND id = ?";

    private static final String LIST = COLUMNS + " AND id < ? ORDER BY id DESC LIMIT ?";

    private static final String LOCK_RUNNING = COLUMNS + " AND id = ? AND state = 'running' FOR UPDATE SKIP LOCKED";

    private static final String INSERT = """
            INSERT INTO carillon.bulk_action (project, id, action, run_state, queue, handler, due_at, matching, actor, request)
            VALUES (?, ?, ?, ?, ?::text, ?::text, ?::timestamptz, ?, ?, ?)
            """;

    private static final String ADVANCE =
            "UPDATE carillon.bulk_action SET done = done + ? WHERE project = ? AND id = ? RETURNING done";

    private static final String END = """
            UPDATE carillon.bulk_action SET state = ?, reason = ?::text, ended_at = carillon.clock() WHERE project = ? AND id = ? AND state = 'running'
            """;

    private static final String RUNNING =
            "SELECT project, id FROM carillon.bulk_action WHERE state = 'running' ORDER BY id LIMIT 100";

    private static final String DELETE_EXPIRED = """
            DELETE FROM carillon.bulk_action WHERE (project, id) IN (
              SELECT project, id FROM carillon.bulk_action WHERE ended_at < carillon.clock() - interval '30 days'
               ORDER BY ended_at LIMIT 10000 FOR UPDATE SKIP LOCKED)
            """;

    private static final UUID MAX_ID = new UUID(-1, -1);

    private final Transactions transactions;

    public BulkRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** The state of a bulk action. */
    public enum State {
        RUNNING,
        DONE,
        ABORTED,
        FAILED
    }

    /**
     * A requested bulk action.
     *
     * @param action {@code cancel}, {@code redrive}, {@code delete} or {@code reschedule}
     * @param at the new due time of {@code reschedule}; null for other actions
     * @param actor the caller
     */
    public record BulkActionRequest(
            String action, RunFilter filter, @Nullable Instant at, String actor, String requestId) {
        /** Returns this action as a value of the library's API. */
        public BulkAction operation() {
            return switch (action) {
                case "cancel" -> new BulkAction.Cancel("cancelled by " + actor);
                case "redrive" -> new BulkAction.Redrive();
                case "delete" -> new BulkAction.Delete();
                case "reschedule" -> new BulkAction.Reschedule(java.util.Objects.requireNonNull(at, "at"));
                default -> throw new IllegalStateException("unknown bulk action " + action);
            };
        }
    }

    /**
     * The progress of a bulk action.
     *
     * @param reason why it failed, as a problem code; null if it did not fail
     * @param matching the number of matching runs at the start, counted up to a limit
     * @param done the number of runs that were changed
     */
    public record Progress(State state, @Nullable String reason, long matching, long done) {}

    /**
     * A stored bulk action.
     *
     * @param endedAt null while it is running
     */
    public record BulkActionRecord(
            UUID id,
            BulkActionRequest request,
            Progress progress,
            Instant createdAt,
            @Nullable Instant endedAt) {}

    /** The key of a bulk action. */
    public record BulkActionKey(String project, UUID id) {}

    public UUID insert(Connection connection, String project, BulkActionRequest bulkActionRequest, long matching)
            throws SQLException {
        UUID id = transactions.newId();
        Sql.update(
                connection,
                INSERT,
                project,
                id,
                bulkActionRequest.action(),
                java.util.Objects.requireNonNull(bulkActionRequest.filter().state(), "state")
                        .text(),
                bulkActionRequest.filter().queue(),
                bulkActionRequest.filter().handler(),
                bulkActionRequest.at(),
                matching,
                bulkActionRequest.actor(),
                bulkActionRequest.requestId());
        return id;
    }

    public Optional<BulkActionRecord> get(Connection connection, String project, UUID id) throws SQLException {
        return Sql.first(connection, GET, BulkRepository::read, project, id);
    }

    /** Returns the bulk actions of a project, newest first, from before the action {@code before}. */
    public List<BulkActionRecord> list(Connection connection, String project, Optional<UUID> before, int limit)
            throws SQLException {
        return Sql.list(connection, LIST, BulkRepository::read, project, before.orElse(MAX_ID), limit);
    }

    /**
     * Locks a running action until the end of the transaction. Empty if it has ended or another worker holds the lock.
     */
    public Optional<BulkActionRecord> lockRunning(Connection connection, BulkActionKey bulkActionKey)
            throws SQLException {
        return Sql.first(connection, LOCK_RUNNING, BulkRepository::read, bulkActionKey.project(), bulkActionKey.id());
    }

    /** Adds to the number of changed runs and returns the new number. */
    public long addDone(Connection connection, BulkActionKey bulkActionKey, int by) throws SQLException {
        return Sql.first(
                        connection,
                        ADVANCE,
                        row -> row.getLong("done"),
                        by,
                        bulkActionKey.project(),
                        bulkActionKey.id())
                .orElseThrow();
    }

    /** Ends a running action. Returns false if it had ended before. Waits for a worker that holds its lock. */
    public boolean end(Connection connection, BulkActionKey bulkActionKey, State state, @Nullable String reason)
            throws SQLException {
        return Sql.update(connection, END, stateText(state), reason, bulkActionKey.project(), bulkActionKey.id()) == 1;
    }

    /** Returns the running actions of all projects, at most 100. */
    public List<BulkActionKey> running() {
        return transactions.runStatementAsServer(connection -> Sql.list(
                connection,
                RUNNING,
                row -> new BulkActionKey(row.getString("project"), row.getObject("id", UUID.class))));
    }

    /** Deletes actions that ended more than 30 days ago, and returns their number. */
    public int deleteExpired() {
        return transactions.runStatementAsServer(connection -> Sql.update(connection, DELETE_EXPIRED));
    }

    private static String stateText(State state) {
        return state.name().toLowerCase(java.util.Locale.ROOT);
    }

    private static BulkActionRecord read(ResultSet row) throws SQLException {
        RunFilter filter = RunFilter.all().state(RunState.of(row.getString("run_state")));
        String queue = row.getString("queue");
        String handler = row.getString("handler");
        if (queue != null) filter = filter.queue(queue);
        if (handler != null) filter = filter.handler(handler);
        return new BulkActionRecord(
                row.getObject("id", UUID.class),
                new BulkActionRequest(
                        row.getString("action"),
                        filter,
                        Sql.instant(row, "due_at"),
                        row.getString("actor"),
                        row.getString("request")),
                new Progress(
                        State.valueOf(row.getString("state").toUpperCase(java.util.Locale.ROOT)),
                        row.getString("reason"),
                        row.getLong("matching"),
                        row.getLong("done")),
                Sql.requiredInstant(row, "created_at"),
                Sql.instant(row, "ended_at"));
    }
}
