package io.carillon.server.http;

import java.util.Set;

/**
 * The caller of a request. The project of a request always comes from the caller, never from a body or a path.
 *
 * @param project the project that the caller may access
 * @param actor the name of the caller in the audit log
 * @param scopes the scopes of the caller
 * @param limits the limits of its key or token
 */
public record Caller(String project, String actor, Set<String> scopes, KeyLimits limits) {
    /** The project whose admins administer the server: they create projects and read metrics. */
    public static final String ADMIN_PROJECT = "default";

    public Caller {
        scopes = Set.copyOf(scopes);
    }

    /** Returns the caller of public routes, which has no key. */
    static Caller anonymous() {
        return new Caller("", "anonymous", Set.of(), KeyLimits.until(null));
    }

    public boolean hasPermission(Permission permission) {
        return permission == Permission.PUBLIC || scopes.stream().anyMatch(permission::grantedBy);
    }

    /** Throws a problem with status 403 if the scopes or the restriction of the caller do not allow an operation. */
    void requireAllowed(Route route) {
        if (!hasPermission(route.permission()))
            throw Problem.of(
                    403,
                    "forbidden",
                    "This operation needs the scope %s. Use a key that has this scope."
                            .formatted(route.permission().text()));
        if (limits.isRestricted() && !KeyLimits.RestrictedRoutes.contains(route))
            throw Problem.of(
                    403,
                    "forbidden",
                    "This operation concerns the whole project, but your key is restricted to queues or handlers. Use"
                            + " another key.");
    }

    /** Throws a problem with status 403 if the caller does not belong to the project {@value #ADMIN_PROJECT}. */
    public void requireServerAdmin() {
        if (!project.equals(ADMIN_PROJECT))
            throw Problem.of(
                    403,
                    "forbidden",
                    "This operation concerns all projects. Use a key of the project \"%s\".".formatted(ADMIN_PROJECT));
    }
}
