package io.carillon.run;

/** What a run does: the kind of target and its name there. */
public record Target(String kind, String name) {
    /** The kind of Java handlers. */
    public static final String HANDLER = "handler";

    /** A Java handler by its stable name. */
    public static Target handler(String name) {
        return new Target(HANDLER, name);
    }
}
