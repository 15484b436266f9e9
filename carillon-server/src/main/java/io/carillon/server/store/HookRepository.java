package io.carillon.server.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;

/** What deliveries need to know of their runs, and nobody else asks the front door for. */
public final class HookRepository {
    private static final String SCHEDULE = """
            SELECT s.name FROM carillon.run r JOIN carillon.schedule s ON s.project = r.project AND s.id = r.schedule_id
             WHERE r.project = ? AND r.id BETWEEN ? AND ? AND s.paused_at IS NULL ORDER BY r.id LIMIT 1
            """;

    // Living, dead, or ended well: history keeps what webhooks sent.
    private static final String SENT = """
            SELECT payload FROM carillon.run WHERE project = ? AND id BETWEEN ? AND ? AND target_name = 'webhook'
            UNION ALL SELECT payload FROM carillon.dead_run WHERE project = ? AND id = ? AND target_name = 'webhook'
            UNION ALL SELECT payload FROM carillon.run_history WHERE project = ? AND id = ? AND target_name = 'webhook' AND payload IS NOT NULL
            """;

    private static final String AWAITED = "SELECT project FROM carillon.awaited WHERE run_id = ? AND digest = ?";

    private final Transactions transactions;

    public HookRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** The schedule that this run belongs to, unless it is paused. */
    public Optional<String> schedule(Connection connection, String project, UUID run) throws SQLException {
        return Sql.first(connection, SCHEDULE, row -> row.getString("name"), project, run, run);
    }

    /** The payload of a webhook's run, as long as it is kept. */
    public Optional<byte[]> sent(Connection connection, String project, UUID run) throws SQLException {
        return Sql.first(
                connection, SENT, row -> row.getBytes("payload"), project, run, run, project, run, project, run);
    }

    /** Whose attempt is open for whoever has this token; outside the wall, because a receiver has no key. */
    public Optional<String> awaiting(UUID run, String digest) {
        return transactions.single(
                connection -> Sql.first(connection, AWAITED, row -> row.getString("project"), run, digest));
    }
}
