package io.carillon.internal.store.node;

/** The result of a rescue: dead nodes cleared, runs released, runs quarantined. */
public record RescueResult(int nodes, int released, int quarantined) {
    /** Returns the sum of both results. */
    public RescueResult plus(RescueResult more) {
        return new RescueResult(nodes + more.nodes, released + more.released, quarantined + more.quarantined);
    }

    /** Returns whether the rescue released or quarantined runs. */
    public boolean rescuedAny() {
        return released + quarantined > 0;
    }
}
