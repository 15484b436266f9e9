package io.carillon.workflow;

/** The result of sending a signal. */
public sealed interface SendResult {
    /** The signal was stored. In a caller's transaction it becomes visible when that transaction commits. */
    record Sent() implements SendResult {}

    /** The workflow already has a signal with this id; nothing was stored. */
    record Duplicate() implements SendResult {}
}
