package io.carillon.server.http;

import java.util.Locale;

/** The permission that a route requires. Every route has one. */
public enum Permission {
    /** No key is required: health, version and the API description. */
    PUBLIC,
    /** Any valid key, token or session is sufficient: what callers may know of themselves. */
    ANY,
    READ,
    ENQUEUE,
    MANAGE,
    ADMIN;

    /** Returns the name of the permission in scopes and in the API description. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns whether a scope grants this permission: manage includes read and enqueue, admin includes everything. */
    public boolean grantedBy(String scope) {
        return switch (this) {
            case PUBLIC, ANY -> true;
            case READ -> scope.equals("read") || scope.equals("manage") || scope.equals("admin");
            case ENQUEUE -> scope.equals("enqueue") || scope.equals("manage") || scope.equals("admin");
            case MANAGE -> scope.equals("manage") || scope.equals("admin");
            case ADMIN -> scope.equals("admin");
        };
    }
}
