package io.carillon.run;

/** The result of a request to cancel a run. */
public sealed interface CancelResult {
    /** The run was waiting and is now cancelled. */
    record Cancelled() implements CancelResult {}

    /** The run is running; its node was asked to stop the attempt. */
    record Requested() implements CancelResult {}

    /** The run had already ended in this state. */
    record AlreadyEnded(RunState state) implements CancelResult {}

    /** The run does not exist. */
    record Unknown() implements CancelResult {}
}
