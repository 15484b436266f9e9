package io.carillon.server.store;

import io.carillon.run.RunFilter;
import io.carillon.run.RunState;
import io.carillon.store.BulkDeed;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Bulk actions: what is done to which runs, how far it is, and how it ended. Whoever works on one holds its row. */
public final class BulkRepository {
    private static final String COLUMNS = """
            SELECT id, action, run_state, queue, handler, due_at, state, reason, matching, done, actor, request, created_at, ended_at
              FROM carillon.bulk_action WHERE project = ?
            """;

    private static final String GET = COLUMNS + " AND id = ?";

    private static final String LIST = COLUMNS + " AND id < ? ORDER BY id DESC LIMIT ?";

    private static final String TAKE = COLUMNS + " AND id = ? AND state = 'running' FOR UPDATE SKIP LOCKED";

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

    private static final String FORGET = """
            DELETE FROM carillon.bulk_action WHERE (project, id) IN (
              SELECT project, id FROM carillon.bulk_action WHERE ended_at < carillon.clock() - interval '30 days'
               ORDER BY ended_at LIMIT 10000 FOR UPDATE SKIP LOCKED)
            """;

    private static final UUID LAST = new UUID(-1, -1);

    private final Transactions transactions;

    public BulkRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** How it stands with an action. */
    public enum State {
        RUNNING,
        DONE,
        ABORTED,
        FAILED
    }

    /** What to do to which runs, for whom; the instant is where runs are moved to. */
    public record Order(
            String action, RunFilter filter, @Nullable Instant at, String actor, String request) {
        /** The same for the front door. */
        public BulkDeed deed() {
            return switch (action) {
                case "cancel" -> new BulkDeed.Cancel("cancelled by " + actor);
                case "redrive" -> new BulkDeed.Redrive();
                case "delete" -> new BulkDeed.Delete();
                case "reschedule" -> new BulkDeed.Reschedule(java.util.Objects.requireNonNull(at, "at"));
                default -> throw new IllegalStateException("there is no bulk action " + action);
            };
        }
    }

    /** How far an action is; {@code matching} is how many there were at its start, counted up to a bound. */
    public record Progress(State state, @Nullable String reason, long matching, long done) {}

    /** An action. */
    public record Kept(
            UUID id,
            Order order,
            Progress progress,
            Instant createdAt,
            @Nullable Instant endedAt) {}

    /** Where an action is found. */
    public record Place(String project, UUID id) {}

    public UUID insert(Connection connection, String project, Order order, long matching) throws SQLException {
        UUID id = transactions.newId();
        Sql.update(
                connection,
                INSERT,
                project,
                id,
                order.action(),
                java.util.Objects.requireNonNull(order.filter().state(), "state")
                        .text(),
                order.filter().queue(),
                order.filter().handler(),
                order.at(),
                matching,
                order.actor(),
                order.request());
        return id;
    }

    public Optional<Kept> get(Connection connection, String project, UUID id) throws SQLException {
        return Sql.first(connection, GET, BulkRepository::read, project, id);
    }

    /** Newest first, those before this one. */
    public List<Kept> list(Connection connection, String project, Optional<UUID> before, int limit)
            throws SQLException {
        return Sql.list(connection, LIST, BulkRepository::read, project, before.orElse(LAST), limit);
    }

    /** Takes it until the end of the transaction; empty: it has ended, or somebody else works on it. */
    public Optional<Kept> take(Connection connection, Place place) throws SQLException {
        return Sql.first(connection, TAKE, BulkRepository::read, place.project(), place.id());
    }

    /** So many more are done; returns how many are in all. */
    public long advance(Connection connection, Place place, int by) throws SQLException {
        return Sql.first(connection, ADVANCE, row -> row.getLong("done"), by, place.project(), place.id())
                .orElseThrow();
    }

    /** Ends it; false: it had ended before. Waits for the part that is being done right now. */
    public boolean end(Connection connection, Place place, State state, @Nullable String reason) throws SQLException {
        return Sql.update(connection, END, word(state), reason, place.project(), place.id()) == 1;
    }

    /** Those of all projects that have not ended. */
    public List<Place> running() {
        return transactions.single(connection -> Sql.list(
                connection, RUNNING, row -> new Place(row.getString("project"), row.getObject("id", UUID.class))));
    }

    /** Removes those that ended a month ago; returns how many. */
    public int forget() {
        return transactions.single(connection -> Sql.update(connection, FORGET));
    }

    private static String word(State state) {
        return state.name().toLowerCase(java.util.Locale.ROOT);
    }

    private static Kept read(ResultSet row) throws SQLException {
        RunFilter filter = RunFilter.all().state(RunState.of(row.getString("run_state")));
        String queue = row.getString("queue");
        String handler = row.getString("handler");
        if (queue != null) filter = filter.queue(queue);
        if (handler != null) filter = filter.handler(handler);
        return new Kept(
                row.getObject("id", UUID.class),
                new Order(
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
                Sql.instantThere(row, "created_at"),
                Sql.instant(row, "ended_at"));
    }
}
