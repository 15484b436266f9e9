package io.carillon.server.http;

import io.carillon.CarillonException;
import io.carillon.internal.value.PublicId;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The caller of a request. The project of a request always comes from the caller, never from a body or a path.
 *
 * @param project the project that the caller may access; the empty string if it is a user who has chosen none
 * @param actor the name of the caller in the audit log
 * @param scopes the scopes of the caller
 * @param limits the limits of its key or token
 * @param user the user who has logged in, and the session; null if the caller has a key or token
 */
public record Caller(
        String project,
        String actor,
        Set<String> scopes,
        KeyLimits limits,
        @Nullable SessionUser user) {
    /** The project whose admins administer the server: they create projects and read metrics. */
    public static final String ADMIN_PROJECT = "default";

    /** The prefix of the public ids of users. */
    public static final String USER_ID_PREFIX = "usr";

    private static final String KEY_PREFIX = "key ";
    private static final String USER_PREFIX = "user ";

    /** A user in a session, which ends at an instant. */
    public record SessionUser(UUID id, UUID session, Instant endsAt) {}

    public Caller {
        scopes = Set.copyOf(scopes);
    }

    /** Creates a caller that has a key or token. */
    public Caller(String project, String actor, Set<String> scopes, KeyLimits limits) {
        this(project, actor, scopes, limits, null);
    }

    /** Creates a caller that is a user. */
    public static Caller of(SessionUser user, String project, Set<String> scopes) {
        return new Caller(project, actorOf(user.id()), scopes, KeyLimits.until(null), user);
    }

    /** Returns the name of a user in the audit log. */
    public static String actorOf(UUID user) {
        return USER_PREFIX + PublicId.format(USER_ID_PREFIX, user);
    }

    /** Returns the id of a user from the name in the audit log; empty if it is the name of another actor. */
    public static Optional<UUID> userOf(String actor) {
        if (!actor.startsWith(USER_PREFIX)) return Optional.empty();
        try {
            return Optional.of(PublicId.parse(USER_ID_PREFIX, actor.substring(USER_PREFIX.length())));
        } catch (CarillonException nameGivenByAnApplication) {
            return Optional.empty();
        }
    }

    /** Returns the name of a key in the audit log. */
    public static String actorOf(String keyId) {
        return KEY_PREFIX + keyId;
    }

    /** Returns the id of the key of this caller; empty for a token. */
    public Optional<String> keyId() {
        return actor.startsWith(KEY_PREFIX) ? Optional.of(actor.substring(KEY_PREFIX.length())) : Optional.empty();
    }

    /** Returns a copy with other limits. */
    public Caller withLimits(KeyLimits changed) {
        return new Caller(project, actor, scopes, changed, user);
    }

    /** Returns a copy with other scopes. */
    public Caller withScopes(Set<String> changed) {
        return new Caller(project, actor, changed, limits, user);
    }

    /** Returns the caller of public routes, which has no key. */
    static Caller anonymous() {
        return new Caller("", "anonymous", Set.of(), KeyLimits.until(null));
    }

    public boolean hasPermission(Permission permission) {
        return permission == Permission.PUBLIC
                || permission == Permission.ANY
                || scopes.stream().anyMatch(permission::grantedBy);
    }

    /** Throws a problem with status 403 if the scopes or the restriction of the caller do not allow an operation. */
    public void requireAllowed(Route route) {
        if (!hasPermission(route.permission()))
            throw Problem.of(
                    403,
                    "forbidden",
                    (user == null
                                    ? "This operation needs %s; your key has %s. Use another key."
                                    : "This operation needs %s; your role in the project has %s. Ask an admin of the"
                                            + " project for another role.")
                            .formatted(sufficientScopes(route), scopes.isEmpty() ? "no scope" : shown(scopes)));
        if (limits.isRestricted() && !KeyLimits.RestrictedRoutes.contains(route))
            throw Problem.of(
                    403,
                    "forbidden",
                    "This operation concerns the whole project, but your key is restricted to queues, handlers or"
                            + " endpoints. Use a key without a restriction that has %s."
                                    .formatted(sufficientScopes(route)));
    }

    private static String sufficientScopes(Route route) {
        List<String> sufficient = Arrays.stream(Permission.values())
                .map(Permission::text)
                .filter(route.permission()::grantedBy)
                .toList();
        return (sufficient.size() == 1 ? "the scope " : "one of the scopes ") + shown(sufficient);
    }

    private static String shown(Collection<String> scopes) {
        return scopes.stream().sorted().collect(Collectors.joining(", "));
    }

    /** Throws a problem with status 403 if the caller does not belong to the project {@value #ADMIN_PROJECT}. */
    public void requireServerAdmin() {
        if (!project.equals(ADMIN_PROJECT))
            throw Problem.of(
                    403,
                    "forbidden",
                    (user == null
                                    ? "This operation concerns all projects. Use a key of the project \"%s\" "
                                            + "with the scope"
                                            + " admin."
                                    : "This operation concerns all projects. It needs the role admin in the project"
                                            + " \"%s\".")
                            .formatted(ADMIN_PROJECT));
    }
}
