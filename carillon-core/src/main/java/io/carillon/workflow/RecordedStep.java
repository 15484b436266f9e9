package io.carillon.workflow;

import io.carillon.run.Payload;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A record of a workflow, as {@code Runs.steps} returns it: a step, a wait, the answer to a wait, or an undo.
 *
 * @param position the position of the record, from 0
 * @param name the name of the step, sleep, signal or change; of a wait for a run and its answer, the id of the run; of
 *     {@code compensate}, {@code failed} or {@code cancelled}
 * @param key the key that distinguishes calls of the same step, or the number of a later await of the same signal; null
 *     if it has none
 * @param kind {@code step}, {@code each}, {@code sleep}, {@code await}, {@code signal}, {@code timeout}, {@code
 *     await-run}, {@code run-ended}, {@code undo}, {@code compensate}, {@code undone} or {@code version}; other kinds
 *     may be added
 * @param value the encoded result, or the keys of {@code each}; null if there is none, or if it is longer than {@link
 *     #MAX_SHOWN_BYTES} and was not asked for by its position
 * @param valueBytes the length of the encoded result; 0 if there is none
 * @param error why the step or its undo failed finally, how the awaited run ended without success, or why the workflow
 *     undoes its steps; null for others
 * @param attempt the attempt of the run that wrote the record
 * @param recordedAt when the step ended or the wait began
 * @param until when the sleep ends, or the time limit of an await; null for others
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

    /** Returns what the record says, such as "waits for signal approval until 2026-03-09T12:00:00Z". */
    public String description() {
        return switch (kind) {
            case "step" -> state == State.FAILED ? "failed" : "done";
            case "each" -> "executes steps in parallel";
            case "sleep" -> waitText("asleep", "slept", "was to sleep") + end();
            case "await" -> waitText("waits", "waited", "no longer waits") + " for signal " + name + limit();
            case "signal" -> "signal " + name + " arrived";
            case "timeout" -> "timed out";
            case "await-run" -> waitText("waits", "waited", "no longer waits") + " for run " + name;
            case "run-ended" -> "run " + name + " ended";
            case "undo" -> "has an undo";
            case "compensate" ->
                "the workflow " + (state == State.CANCELLED ? "was cancelled" : "failed") + "; its steps are undone";
            case "undone" -> state == State.FAILED ? "could not be undone" : "undone";
            case "version" -> "follows a version of change " + name;
            default -> kind;
        };
    }

    private String waitText(String now, String past, String cancelled) {
        if (state == State.WAITING) return now;
        return state == State.CANCELLED ? cancelled : past;
    }

    private String limit() {
        return state == State.WAITING || state == State.TIMED_OUT ? end() : "";
    }

    private String end() {
        return until == null ? "" : " until " + until.truncatedTo(ChronoUnit.SECONDS);
    }

    /** The state of a record. */
    public enum State {
        /** The step returned, or the sleep is over, or what was awaited came, or the step was undone. */
        SUCCEEDED,
        /** The last try of the step or its undo failed, or the awaited run did not succeed. */
        FAILED,
        /** The workflow waits for the end of the sleep, or for what it awaits. */
        WAITING,
        /** The time limit of the await was over before the signal came. */
        TIMED_OUT,
        /** The workflow ended, or began to undo its steps, before the wait was over. */
        CANCELLED
    }
}
