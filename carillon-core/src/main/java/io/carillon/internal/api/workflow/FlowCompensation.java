package io.carillon.internal.api.workflow;

import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.run.ErrorText;
import io.carillon.internal.store.run.WorkflowStepStore.StepRecord;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Undoes the steps of a workflow, the last one first. What was undone is recorded, so it is not undone again. */
final class FlowCompensation {
    private static final int MAX_TRIES = 10_000;

    /** Calls the code that undoes a step. */
    @FunctionalInterface
    interface Undo {
        void run(int failures) throws Exception;
    }

    private record RegisteredUndo(String path, Retry retry, Undo undo) {}

    private final ActiveAttempt attempt;
    private final FlowRecords records;
    private final Deque<RegisteredUndo> undos = new ArrayDeque<>();

    FlowCompensation(ActiveAttempt attempt, FlowRecords records) {
        this.attempt = attempt;
        this.records = records;
    }

    void register(String path, Retry retry, Undo undo) {
        undos.push(new RegisteredUndo(path, retry, undo));
    }

    /** Returns whether nothing has to be undone. */
    boolean isEmpty() {
        return undos.isEmpty();
    }

    /**
     * Undoes what is not undone yet, and returns how the attempt ends: in the end with the failure or the cancel that
     * was the reason, before that with a wait for the next try.
     */
    Outcome run(boolean cancelled, String reason) {
        try {
            StepRecord begin = records.compensation();
            if (begin == null) begin = records.writeCompensation(cancelled, reason);
            String because = String.valueOf(begin.error());
            while (!undos.isEmpty()) {
                RegisteredUndo next = undos.peek();
                StepRecord done = records.undone(next.path());
                if (done == null) {
                    Outcome wait = tryUndo(next);
                    if (wait != null) return wait;
                } else if (done.error() != null) {
                    return Outcome.rejected("Compensation failed: step '%s' was not undone: %s. The workflow %s: %s"
                            .formatted(next.path(), done.error(), begin.path(), because));
                } else undos.pop();
            }
            return begin.path().equals("cancelled") ? new Outcome.Cancelled(because) : Outcome.rejected(because);
        } catch (FlowRecords.Ended unrecorded) {
            return unrecorded.outcome();
        }
    }

    /** Tries to undo a step. Returns null if the result is recorded. */
    private @Nullable Outcome tryUndo(RegisteredUndo step) {
        if (attempt.isStopRequested()) return Outcome.snoozed(Duration.ZERO);
        int failures = records.failuresSinceUndone();
        String error = failures < step.retry().attempts()
                ? error(step, failures)
                : "%d tries were stopped or timed out".formatted(failures);
        if (error == null || failures + 1 >= step.retry().attempts()) {
            records.writeUndone(step.path(), error);
            return null;
        }
        if (attempt.isStopRequested()) return Outcome.failed(new IllegalStateException(error));
        attempt.retryByWorkflow(step.retry().attempts(MAX_TRIES));
        return new Outcome.RetryAfter(
                step.retry().delay(failures + 1, ThreadLocalRandom.current()),
                "undo of step '%s': %s".formatted(step.path(), error));
    }

    private static @Nullable String error(RegisteredUndo step, int failures) {
        try {
            step.undo().run(failures);
            return null;
        } catch (Exception failure) {
            return ErrorText.of(failure);
        } catch (FlowRecords.Ended misuse) {
            return "An undo must not use the flow.";
        }
    }
}
