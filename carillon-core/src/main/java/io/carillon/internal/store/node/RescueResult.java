package io.carillon.internal.store.node;

/**
 * The result of a rescue.
 *
 * @param nodes the dead nodes that have no runs left
 * @param failures the runs that could not be released; in a total also the rescues that failed
 */
public record RescueResult(int nodes, int released, int quarantined, int failures) {
    /** A result without failures. */
    public RescueResult(int nodes, int released, int quarantined) {
        this(nodes, released, quarantined, 0);
    }

    /** Returns the sum of both results. */
    public RescueResult plus(RescueResult more) {
        return new RescueResult(
                nodes + more.nodes, released + more.released, quarantined + more.quarantined, failures + more.failures);
    }

    /** Returns whether the rescue released or quarantined runs. */
    public boolean rescuedAny() {
        return released + quarantined > 0;
    }
}
