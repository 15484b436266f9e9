package io.carillon.run;

/** The answer of an enqueue: stored, or a run with the same key was there already. */
public sealed interface EnqueueResult {
    /** The run that will do the work. */
    RunId run();

    /** It is stored (in the caller's transaction: as soon as that commits). */
    record Enqueued(RunId run) implements EnqueueResult {}

    /** A run with this key waits or runs already; nothing was stored. */
    record AlreadyThere(RunId run) implements EnqueueResult {}
}
