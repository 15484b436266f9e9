package io.carillon.server.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;

/** Queries about webhook runs that the library's API does not offer. */
public final class WebhookRunRepository {
    private static final String ACTIVE_SCHEDULE = """
            SELECT s.name FROM carillon.run r JOIN carillon.schedule s ON s.project = r.project AND s.id = r.schedule_id
             WHERE r.project = ? AND r.id BETWEEN ? AND ? AND s.paused_at IS NULL ORDER BY r.id LIMIT 1
            """;

    // The run is live, dead or in the history, which keeps the payloads of webhooks.
    private static final String PAYLOAD = """
            SELECT payload FROM carillon.run WHERE project = ? AND id BETWEEN ? AND ? AND target_name = 'webhook'
            UNION ALL SELECT payload FROM carillon.dead_run WHERE project = ? AND id = ? AND target_name = 'webhook'
            UNION ALL SELECT payload FROM carillon.run_history WHERE project = ? AND id = ? AND target_name = 'webhook' AND payload IS NOT NULL
            """;

    private static final String AWAITED = "SELECT project FROM carillon.awaited WHERE run_id = ? AND digest = ?";

    private final Transactions transactions;

    public WebhookRunRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** Returns the name of the run's schedule; empty if the run has none or the schedule is paused. */
    public Optional<String> activeScheduleOf(Connection connection, String project, UUID run) throws SQLException {
        return Sql.first(connection, ACTIVE_SCHEDULE, row -> row.getString("name"), project, run, run);
    }

    /** Returns the payload of a webhook run; empty if it is no longer kept. */
    public Optional<byte[]> payloadOf(Connection connection, String project, UUID run) throws SQLException {
        return Sql.first(
                connection, PAYLOAD, row -> row.getBytes("payload"), project, run, run, project, run, project, run);
    }

    /**
     * Returns the project of the run that waits for a callback with this token. Without row-level security, because a
     * receiver has no key.
     */
    public Optional<String> projectAwaiting(UUID run, String digest) {
        return transactions.runStatementAsServer(
                connection -> Sql.first(connection, AWAITED, row -> row.getString("project"), run, digest));
    }
}
