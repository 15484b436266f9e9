package io.carillon.server.api;

import io.carillon.Carillon;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.http.Cursors;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.BulkRepository;
import io.carillon.server.store.IdempotencyRepository;
import io.carillon.server.store.ProjectRepository;
import io.carillon.server.store.Transactions;

/** The objects that routes use. */
public record ServerContext(
        Carillon carillon,
        Transactions transactions,
        Repositories repositories,
        Cursors cursors,
        ServerWebhooks webhooks) {
    /** The repositories of the server's own tables. */
    public record Repositories(
            ApiKeyRepository keys,
            AuditRepository audit,
            IdempotencyRepository idempotency,
            ProjectRepository projects,
            BulkRepository bulk) {}
}
