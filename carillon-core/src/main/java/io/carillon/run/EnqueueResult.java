package io.carillon.run;

/** The result of an enqueue: the run was stored, or a run with the same unique key exists. */
public sealed interface EnqueueResult {
    /** Returns the id of the stored or the existing run. */
    RunId run();

    /** The run was stored. In a caller's transaction it becomes visible when that transaction commits. */
    record Enqueued(RunId run) implements EnqueueResult {}

    /** A run with the same unique key exists; nothing was stored. */
    record Duplicate(RunId run) implements EnqueueResult {}
}
