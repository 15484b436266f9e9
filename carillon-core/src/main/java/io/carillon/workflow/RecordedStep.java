package io.carillon.workflow;

import io.carillon.run.Payload;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The record of a step or sleep of a workflow, as {@code Runs.steps} returns it.
 *
 * @param position the position of the call in the code of the workflow, from 0
 * @param name the name of the step or sleep
 * @param key the key that distinguishes calls of the same step; null if it has none
 * @param kind {@code step} or {@code sleep}; other kinds may be added
 * @param value the encoded result; null if there is none, or if it is longer than {@link #MAX_SHOWN_BYTES} and was not
 *     asked for by its position
 * @param valueBytes the length of the encoded result; 0 if there is none
 * @param error why the step failed finally; null if it did not
 * @param attempt the attempt of the run that wrote the record
 * @param recordedAt when the step ended or the sleep began
 * @param until when the sleep ends; null for a step
 */
public record RecordedStep(
        int position,
        String name,
        @Nullable String key,
        String kind,
        State state,
        @Nullable Payload value,
        int valueBytes,
        @Nullable String error,
        int attempt,
        Instant recordedAt,
        @Nullable Instant until) {
    /** Lists contain values up to this length. */
    public static final int MAX_SHOWN_BYTES = 4096;

    /** The state of a recorded step. */
    public enum State {
        /** The step returned, or the sleep is over, or what was awaited came. */
        SUCCEEDED,
        /** The last try of the step failed. */
        FAILED,
        /** The workflow waits for the end of the sleep, or for what it awaits. */
        WAITING,
        /** The workflow ended before the wait was over. */
        CANCELLED
    }
}
