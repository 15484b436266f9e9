package io.carillon.server.store;

import io.carillon.internal.jdbc.Session;
import io.carillon.internal.postgres.reads.ServerReads;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;

/** Queries about webhook runs that the library's API does not offer. */
public final class WebhookRunRepository {
    private static final String TARGET = "webhook";

    private final Transactions transactions;

    public WebhookRunRepository(Transactions transactions) {
        this.transactions = transactions;
    }

    /** Returns the name of the run's schedule; empty if the run has none or the schedule is paused. */
    public Optional<String> activeScheduleOf(Session session, String project, UUID run) throws SQLException {
        return ServerReads.activeSchedule(session, project, run);
    }

    /** Returns the payload of a webhook run; empty if it is no longer kept. The history keeps it for webhooks. */
    public Optional<byte[]> payloadOf(Session session, String project, UUID run) throws SQLException {
        return ServerReads.payload(session, project, run, TARGET);
    }

    /**
     * Returns the project of the run that waits for a callback with this token. Without row-level security, because a
     * receiver has no key.
     */
    public Optional<String> projectAwaiting(UUID run, String digest) {
        return transactions.runStatementAsServer(session -> ServerReads.projectAwaiting(session, run, digest));
    }
}
