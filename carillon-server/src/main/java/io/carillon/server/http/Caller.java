package io.carillon.server.http;

import java.util.Set;

/** Who calls: the project it may see, a name for the audit log, and its scopes. The project comes from here alone, never from a body or a path. */
public record Caller(String project, String actor, Set<String> scopes) {
    /** The project whose admins look after the house: they make projects and read its meters. */
    public static final String HOUSE = "default";

    public Caller {
        scopes = Set.copyOf(scopes);
    }

    /** Nobody in particular, on public routes. */
    static Caller nobody() {
        return new Caller("", "anonymous", Set.of());
    }

    public boolean may(Permission permission) {
        return permission == Permission.PUBLIC || scopes.stream().anyMatch(permission::grantedBy);
    }

    /** Refuses those who do not look after the house. */
    public void mustKeepHouse() {
        if (!project.equals(HOUSE))
            throw Problem.of(
                    403,
                    "forbidden",
                    "This concerns all projects. Use a key of the project '%s' with the scope admin.".formatted(HOUSE));
    }
}
