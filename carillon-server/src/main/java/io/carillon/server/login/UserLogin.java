package io.carillon.server.login;

import io.carillon.internal.value.TextCleaner;
import io.carillon.server.access.UserSessions;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Json;
import io.carillon.server.store.AuditRepository;
import io.carillon.server.store.MemberRepository;
import io.carillon.server.store.UserRepository;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Stores the login of a user and starts a session, in one transaction.
 *
 * @param mayAddAdmin whether the admin claim has an effect; it has none on a read-only server
 */
public record UserLogin(UserRepository users, MemberRepository members, AuditRepository audit, boolean mayAddAdmin) {
    private static final int MAX_BROWSER_LENGTH = 200;

    /** A new session, whose token only its browser gets. */
    record Started(String token, Instant expiresAt) {}

    Started start(ApiRequest request, String issuer, OidcProvider.Identity identity) {
        String token = UserSessions.newToken();
        UserRepository.NewSession wanted = new UserRepository.NewSession(
                UserSessions.hash(token),
                UserSessions.LIFETIME,
                request.remoteAddress(),
                TextCleaner.clean(request.header("User-Agent").orElse(""), MAX_BROWSER_LENGTH));
        return users.runAsServer(session -> {
            UUID user = users.saveLogin(
                    session, new UserRepository.Login(issuer, identity.subject(), identity.name(), identity.email()));
            Instant end = users.insertSession(session, user, wanted);
            ObjectNode detail = JsonNodeFactory.instance
                    .objectNode()
                    .put("issuer", issuer)
                    .put("subject", identity.subject())
                    .put("address", request.remoteAddress());
            if (identity.hasAdminClaim()
                    && mayAddAdmin
                    && members.insertFirstAdmin(session, Caller.ADMIN_PROJECT, user, "admin claim"))
                detail.put("role", "admin");
            audit.write(
                    session,
                    Caller.ADMIN_PROJECT,
                    new AuditRepository.Change(
                            Caller.actorOf(user),
                            "session.start",
                            "session",
                            new String(Json.bytes(detail), StandardCharsets.UTF_8),
                            request.requestId()));
            return new Started(token, end);
        });
    }
}
