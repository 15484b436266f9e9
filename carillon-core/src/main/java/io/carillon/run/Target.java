package io.carillon.run;

/** The target of a run: its kind, and its name within this kind. */
public record Target(String kind, String name) {
    /** The kind of Java handlers. */
    public static final String HANDLER = "handler";

    /** Returns the target for a Java handler. */
    public static Target handler(String name) {
        return new Target(HANDLER, name);
    }
}
