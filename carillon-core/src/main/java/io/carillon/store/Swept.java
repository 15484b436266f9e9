package io.carillon.store;

/** What a sweep did: dead nodes cleared, runs let go, runs quarantined. */
public record Swept(int nodes, int released, int quarantined) {
    /** Both together. */
    public Swept plus(Swept more) {
        return new Swept(nodes + more.nodes, released + more.released, quarantined + more.quarantined);
    }

    /** Whether there was anything to do. */
    public boolean any() {
        return released + quarantined > 0;
    }
}
