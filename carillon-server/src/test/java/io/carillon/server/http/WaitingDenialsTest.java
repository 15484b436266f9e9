package io.carillon.server.http;

import static org.awaitility.Awaitility.await;

import io.carillon.server.access.BearerAuthenticator;
import io.carillon.server.access.DenialAudit;
import io.carillon.server.access.GuessLimiter;
import io.carillon.server.access.KeyIssuer;
import io.carillon.server.access.ValidKeys;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.ProjectRepository;
import io.carillon.server.store.Transactions;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Refused requests that wait for their audit entry use little memory. */
class WaitingDenialsTest {
    @Test
    void an_entry_that_waits_does_not_hold_the_body_of_its_request() {
        // No thread writes entries, so this database is not asked.
        Transactions transactions = new Transactions(new PGSimpleDataSource());
        ApiKeyRepository keys = new ApiKeyRepository(transactions);
        BearerAuthenticator authenticator = new BearerAuthenticator(
                new ValidKeys(keys, new KeyIssuer(new byte[32])),
                new ProjectRepository(transactions),
                1,
                BearerAuthenticator.OtherCallers.none(),
                new GuessLimiter(),
                new DenialAudit(transactions, new AuditRepository(transactions), keys, new KeyIssuer(new byte[32])));

        WeakReference<byte[]> body = refuse(authenticator);

        try {
            await().until(() -> {
                System.gc();
                return body.get() == null;
            });
        } finally {
            Reference.reachabilityFence(authenticator);
        }
    }

    private static WeakReference<byte[]> refuse(Authenticator authenticator) {
        byte[] body = new byte[Route.MAX_BODY_BYTES];
        Route route = Route.post("/v1/runs", Permission.ENQUEUE, request -> ApiResponse.noContent());
        authenticator.onForbidden(new ApiRequest(
                new ApiRequest.Head(route, Map.of(), Map.of(), Map.of(), "req", "127.0.0.1"),
                body,
                new Caller("shop", "key a", Set.of(), KeyLimits.until(null))));
        return new WeakReference<>(body);
    }
}
