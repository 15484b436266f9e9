package io.carillon.server.http;

import java.util.Locale;

/** What a route asks of its caller. There is no route without one. */
public enum Permission {
    /** Nobody has to say who they are: health, version and the description of the interface. */
    PUBLIC,
    READ,
    ENQUEUE,
    MANAGE,
    ADMIN;

    /** The word of scopes and in the description of the interface. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether a scope of this name grants it: manage includes read and enqueue, admin everything. */
    public boolean grantedBy(String scope) {
        return switch (this) {
            case PUBLIC -> true;
            case READ -> scope.equals("read") || scope.equals("manage") || scope.equals("admin");
            case ENQUEUE -> scope.equals("enqueue") || scope.equals("manage") || scope.equals("admin");
            case MANAGE -> scope.equals("manage") || scope.equals("admin");
            case ADMIN -> scope.equals("admin");
        };
    }
}
