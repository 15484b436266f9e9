package io.carillon.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;

/** A secret text that does not show itself: neither in logs nor in errors nor by a record it is part of. */
public final class Secret {
    private final String text;

    private Secret(String text) {
        this.text = text;
    }

    public static Secret of(String text) {
        return new Secret(text);
    }

    /** The text itself; whoever calls this keeps it out of sight. */
    public String reveal() {
        return text;
    }

    /** In constant time. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Secret that && MessageDigest.isEqual(text.getBytes(UTF_8), that.text.getBytes(UTF_8));
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return "Secret[hidden]";
    }
}
