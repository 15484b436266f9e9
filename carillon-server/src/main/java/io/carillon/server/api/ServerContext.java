package io.carillon.server.api;

import io.carillon.Carillon;
import io.carillon.server.access.Cursors;
import io.carillon.server.access.KeyIssuer;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.BulkRepository;
import io.carillon.server.store.IdempotencyRepository;
import io.carillon.server.store.MemberRepository;
import io.carillon.server.store.ProjectRepository;
import io.carillon.server.store.Transactions;
import io.carillon.server.store.UserRepository;
import java.util.Optional;

/**
 * The objects that routes use.
 *
 * @param webhooks empty in an application that only shows its own project
 */
public record ServerContext(
        Carillon carillon,
        Transactions transactions,
        Repositories repositories,
        Cursors cursors,
        KeyIssuer keyIssuer,
        Optional<ServerWebhooks> webhooks) {
    /** The repositories of the server's own tables. */
    public record Repositories(
            ApiKeyRepository keys,
            AuditRepository audit,
            IdempotencyRepository idempotency,
            ProjectRepository projects,
            BulkRepository bulk,
            UserRepository users,
            MemberRepository members) {
        /** Creates all repositories. */
        public static Repositories on(Transactions transactions) {
            return new Repositories(
                    new ApiKeyRepository(transactions),
                    new AuditRepository(transactions),
                    new IdempotencyRepository(transactions),
                    new ProjectRepository(transactions),
                    new BulkRepository(transactions),
                    new UserRepository(transactions),
                    new MemberRepository());
        }
    }

    /** Returns the webhooks of a server. */
    public ServerWebhooks requireWebhooks() {
        return webhooks.orElseThrow(() -> new IllegalStateException("an application has no routes of webhooks"));
    }
}
