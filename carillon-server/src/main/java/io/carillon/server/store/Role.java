package io.carillon.server.store;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What a member may do in a project. Each role has the rights of one scope of keys. */
public enum Role {
    VIEWER("read"),
    OPERATOR("manage"),
    ADMIN("admin");

    private final String scope;

    Role(String scope) {
        this.scope = scope;
    }

    /** Returns the scope of keys with the same rights. */
    public String scope() {
        return scope;
    }

    /** Returns the name of the role in the database and in the API. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the role with this name; empty if there is none. */
    public static Optional<Role> find(String text) {
        return Arrays.stream(values()).filter(role -> role.text().equals(text)).findFirst();
    }

    /** Returns the names of all roles. */
    public static List<String> texts() {
        return Arrays.stream(values()).map(Role::text).toList();
    }

    static Role of(String text) {
        return find(text).orElseThrow(() -> new IllegalStateException("unknown role " + text));
    }
}
