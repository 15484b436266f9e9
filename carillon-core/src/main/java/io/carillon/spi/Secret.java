package io.carillon.spi;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;

/**
 * A secret text. Its {@link #toString} does not contain the text, so that logs, errors and records with this component
 * do not reveal it.
 */
public final class Secret {
    private final String text;

    private Secret(String text) {
        this.text = text;
    }

    public static Secret of(String text) {
        return new Secret(text);
    }

    /** Returns the secret text. The caller must not write it to logs or errors. */
    public String reveal() {
        return text;
    }

    /** Compares in constant time. */
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
