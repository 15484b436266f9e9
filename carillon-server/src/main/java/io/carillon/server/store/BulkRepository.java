package io.carillon.server.store;

import io.carillon.BulkActions;
import io.carillon.internal.jdbc.Query;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.jdbc.Session;
import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Bulk actions with their progress and result. A worker holds the lock of the action's row while it works on it. */
public final class BulkRepository {
    private static final String COLUMNS = """
            SELECT id, action, run_state, queue, handler, due_at, state, reason, done, after_id, last_id, locked_ids,
              actor, request_id, created_at, ended_at
              FROM carillon.bulk_action WHERE project = :project
            """;

    private static final String GET = COLUMNS + " AND id = :id";

    private static final String LIST = COLUMNS + " AND id < :before ORDER BY id DESC LIMIT :limit";

    private static final String LOCK_RUNNING = COLUMNS + " AND id = :id AND state = 'running' FOR UPDATE SKIP LOCKED";

    private static final String INSERT = """
            INSERT INTO carillon.bulk_action (project, id, action, run_state, queue, handler, due_at, actor, request_id,
              after_id, last_id, created_at)
            VALUES (:project, :id, :action, :runState, :queue, :handler, :due, :actor, :request, :after, :last, :begun)
            """;

    private static final String ADVANCE = """
            UPDATE carillon.bulk_action
               SET done = done + :by, after_id = :after, locked_ids = :locked, worked_at = carillon.clock()
             WHERE project = :project AND id = :id RETURNING done
            """;

    private static final String END = """
            UPDATE carillon.bulk_action SET state = :state, reason = :reason, ended_at = carillon.clock()
             WHERE project = :project AND id = :id AND state = 'running'
            """;

    // One action of each project, so that a project with many actions delays the others no more than one with a single
    // action does.
    private static final String NEXT = """
            SELECT project, id
              FROM (SELECT DISTINCT ON (project) project, id, worked_at FROM carillon.bulk_action
                     WHERE state = 'running' AND NOT id = ANY (:postponed)
                     ORDER BY project, worked_at) longest_waiting
             ORDER BY worked_at LIMIT 100
            """;

    private static final String COUNT_RUNNING = """
            SELECT count(*) AS actions
              FROM (SELECT 1 FROM carillon.bulk_action WHERE project = :project AND state = 'running' LIMIT :limit) few
            """;

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
        public BulkActions.Action operation() {
            return switch (action) {
                case "cancel" -> new BulkActions.Action.Cancel("cancelled by " + actor);
                case "redrive" -> new BulkActions.Action.Redrive();
                case "delete" -> new BulkActions.Action.Delete();
                case "reschedule" -> new BulkActions.Action.Reschedule(java.util.Objects.requireNonNull(at, "at"));
                default -> throw new IllegalStateException("unknown bulk action " + action);
            };
        }
    }

    /**
     * The progress of a bulk action.
     *
     * @param reason why it failed, as a problem code; null if it did not fail
     * @param done the number of runs that were changed
     */
    public record Progress(State state, @Nullable String reason, long done) {}

    /**
     * A stored bulk action.
     *
     * @param cursor the runs that it has still to visit
     * @param endedAt null while it is running
     */
    public record BulkActionRecord(
            UUID id,
            BulkActionRequest request,
            Progress progress,
            BulkActions.Cursor cursor,
            @Nullable Instant endedAt) {
        public Instant createdAt() {
            return cursor.begunAt();
        }
    }

    /** The key of a bulk action. */
    public record BulkActionKey(String project, UUID id) {}

    /** Stores a bulk action that begins at the given position. */
    public UUID insert(Session session, String project, BulkActionRequest bulkActionRequest, BulkActions.Cursor cursor)
            throws SQLException {
        UUID id = transactions.newId();
        RunFilter filter = bulkActionRequest.filter();
        session.query(INSERT)
                .text("project", project)
                .uuid("id", id)
                .text("action", bulkActionRequest.action())
                .text(
                        "runState",
                        java.util.Objects.requireNonNull(filter.state(), "state")
                                .text())
                .text("queue", filter.queue())
                .text("handler", filter.handler())
                .instant("due", bulkActionRequest.at())
                .text("actor", bulkActionRequest.actor())
                .text("request", bulkActionRequest.requestId())
                .uuid("after", cursor.after())
                .uuid("last", cursor.last())
                .instant("begun", cursor.begunAt())
                .update();
        return id;
    }

    public Optional<BulkActionRecord> get(Session session, String project, UUID id) throws SQLException {
        return bindKey(session.query(GET), new BulkActionKey(project, id)).first(BulkRepository::read);
    }

    /** Returns the bulk actions of a project, newest first, from before the action {@code before}. */
    public List<BulkActionRecord> list(Session session, String project, Optional<UUID> before, int limit)
            throws SQLException {
        return session.query(LIST)
                .text("project", project)
                .uuid("before", before.orElse(MAX_ID))
                .number("limit", limit)
                .list(BulkRepository::read);
    }

    /**
     * Locks a running action until the end of the transaction. Empty if it has ended or another worker holds the lock.
     */
    public Optional<BulkActionRecord> lockRunning(Session session, BulkActionKey bulkActionKey) throws SQLException {
        return bindKey(session.query(LOCK_RUNNING), bulkActionKey).first(BulkRepository::read);
    }

    /** Adds a finished batch: the number of changed runs, and the position after it. Returns the new number. */
    public long advance(Session session, BulkActionKey bulkActionKey, int done, BulkActions.Cursor next)
            throws SQLException {
        return bindKey(session.query(ADVANCE), bulkActionKey)
                .number("by", done)
                .uuid("after", next.after())
                .uuids("locked", next.locked())
                .first(row -> row.number("done"))
                .orElseThrow();
    }

    /** Returns the number of running actions of a project, counted up to {@code atMost}. */
    public long countRunning(Session session, String project, long atMost) throws SQLException {
        return session.query(COUNT_RUNNING)
                .text("project", project)
                .number("limit", atMost)
                .first(row -> row.number("actions"))
                .orElseThrow();
    }

    /** Ends a running action. Returns false if it had ended before. Waits for a worker that holds its lock. */
    public boolean end(Session session, BulkActionKey bulkActionKey, State state, @Nullable String reason)
            throws SQLException {
        return bindKey(session.query(END), bulkActionKey)
                        .text("state", stateText(state))
                        .text("reason", reason)
                        .update()
                == 1;
    }

    /**
     * Returns running actions that are not postponed, at most 100: of each project the one that was not worked on for
     * the longest time, and the projects in the same order.
     */
    public List<BulkActionKey> next(Collection<UUID> postponed) {
        return transactions.runStatementAsServer(session -> session.query(NEXT)
                .uuids("postponed", postponed)
                .list(row -> new BulkActionKey(row.text("project"), row.uuid("id"))));
    }

    /** Deletes actions that ended more than 30 days ago, and returns their number. */
    public int deleteExpired() {
        return transactions.runStatementAsServer(
                session -> session.query(DELETE_EXPIRED).update());
    }

    private static Query bindKey(Query query, BulkActionKey bulkActionKey) throws SQLException {
        return query.text("project", bulkActionKey.project()).uuid("id", bulkActionKey.id());
    }

    private static String stateText(State state) {
        return state.name().toLowerCase(java.util.Locale.ROOT);
    }

    private static BulkActionRecord read(Row row) throws SQLException {
        RunFilter filter = RunFilter.all().state(RunState.of(row.text("run_state")));
        String queue = row.maybeText("queue");
        String handler = row.maybeText("handler");
        if (queue != null) filter = filter.queue(queue);
        if (handler != null) filter = filter.handler(handler);
        return new BulkActionRecord(
                row.uuid("id"),
                new BulkActionRequest(
                        row.text("action"),
                        filter,
                        row.maybeInstant("due_at"),
                        row.text("actor"),
                        row.text("request_id")),
                new Progress(
                        State.valueOf(row.text("state").toUpperCase(java.util.Locale.ROOT)),
                        row.maybeText("reason"),
                        row.number("done")),
                new BulkActions.Cursor(
                        row.uuid("after_id"), row.uuid("last_id"), row.instant("created_at"), row.uuids("locked_ids")),
                row.maybeInstant("ended_at"));
    }
}
