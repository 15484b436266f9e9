package io.carillon.store;

/** A gate of a project, by the name its runs give it. */
public record GateName(String project, String name) {
    /** Whether only the time makes room there, and not who leaves it. */
    public boolean timed() {
        return name.startsWith("rate:");
    }
}
