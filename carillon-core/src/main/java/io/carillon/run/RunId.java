package io.carillon.run;

import io.carillon.internal.value.PublicId;
import io.carillon.internal.value.Uuid7;
import java.util.UUID;

/** The id of a run. Its text form is {@code run_…}. */
public record RunId(UUID value) implements Comparable<RunId> {
    private static final String PREFIX = "run";

    /** Returns a new id. */
    public static RunId generate() {
        return new RunId(Uuid7.next());
    }

    /** Parses the text form. */
    public static RunId parse(String text) {
        return new RunId(PublicId.parse(PREFIX, text));
    }

    @Override
    public int compareTo(RunId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return PublicId.format(PREFIX, value);
    }
}
