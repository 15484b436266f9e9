package io.carillon.dashboard;

import java.util.Set;

/** What a user of the application may do on the dashboard, and under which name. Immutable. */
public final class DashboardAccess {
    private static final DashboardAccess NONE = new DashboardAccess("", Set.of());

    private final String actor;
    private final Set<String> scopes;

    private DashboardAccess(String actor, Set<String> scopes) {
        this.actor = actor;
        this.scopes = scopes;
    }

    /** Refuses the request. */
    public static DashboardAccess none() {
        return NONE;
    }

    /**
     * Lets the user see everything and change nothing.
     *
     * @param user the name that the dashboard shows
     */
    public static DashboardAccess viewer(String user) {
        return new DashboardAccess(actorOf(user), Set.of("read"));
    }

    /**
     * Lets the user see and change everything, and read who changed what.
     *
     * @param user the name in the audit log
     */
    public static DashboardAccess operator(String user) {
        return new DashboardAccess(actorOf(user), Set.of("manage"));
    }

    private static String actorOf(String user) {
        if (user.isBlank() || user.length() > 200)
            throw new IllegalArgumentException(
                    "user must have between 1 and 200 characters (was %d)".formatted(user.length()));
        return "user " + user;
    }

    boolean isNone() {
        return scopes.isEmpty();
    }

    String actor() {
        return actor;
    }

    Set<String> scopes() {
        return scopes;
    }
}
