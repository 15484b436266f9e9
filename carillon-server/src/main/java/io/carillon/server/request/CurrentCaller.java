package io.carillon.server.request;

import io.carillon.internal.jdbc.Session;
import io.carillon.server.http.ApiRequest;
import io.carillon.server.http.Caller;
import io.carillon.server.http.Problem;
import io.carillon.server.store.ApiKeyRepository;
import io.carillon.server.store.MemberRepository;
import io.carillon.server.store.Role;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the rights of a caller again, in the transaction of a request that gives access to others. What a node knows
 * may be three seconds old, and a key or member that lost its rights since must not extend its access.
 */
public record CurrentCaller(ApiKeyRepository keys, MemberRepository members) {
    /**
     * Returns the caller with the limits that its key has now, or the role that the user has. The role stays until the
     * end of the transaction. A token has no other rights than before.
     *
     * @throws Problem if the key has ended, or the role is no longer sufficient
     */
    public Caller of(ApiRequest request, Session session) throws SQLException {
        Caller caller = request.caller();
        Caller.SessionUser user = caller.user();
        if (user != null) {
            Role role = members.roleNow(session, caller.project(), user.id()).orElseThrow(Problem::notMember);
            Caller now = caller.withScopes(Set.of(role.scope()));
            now.requireAllowed(request.route());
            return now;
        }
        Optional<String> key = caller.keyId();
        if (key.isEmpty()) return caller;
        return keys.getValid(session, caller.project(), key.get())
                .map(stored -> caller.withLimits(stored.limits()))
                .orElseThrow(Problem::unauthenticated);
    }
}
