package io.carillon.internal.store.run;

/** A gate of a project, by name. */
public record GateName(String project, String name) {
    /** Returns whether time alone opens the gate, so that the end of a run does not. */
    public boolean isTimeBased() {
        return name.startsWith("rate:");
    }
}
