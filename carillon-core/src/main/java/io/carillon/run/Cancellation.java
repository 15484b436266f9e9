package io.carillon.run;

/** The answer of a cancel. */
public sealed interface Cancellation {
    /** It was waiting and is cancelled now. */
    record Cancelled() implements Cancellation {}

    /** It is running; its node was asked to stop it. */
    record Requested() implements Cancellation {}

    /** It had ended before, in this state. */
    record AlreadyEnded(RunState state) implements Cancellation {}

    /** There is no such run. */
    record Unknown() implements Cancellation {}
}
