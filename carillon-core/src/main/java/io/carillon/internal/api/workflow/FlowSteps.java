package io.carillon.internal.api.workflow;

import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.engine.attempt.TransactionalCalls;
import io.carillon.internal.run.ErrorText;
import io.carillon.internal.store.run.WorkflowStepStore.NewStep;
import io.carillon.internal.store.run.WorkflowStepStore.StepKind;
import io.carillon.internal.store.run.WorkflowStepStore.StepRecord;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Retry;
import io.carillon.spi.PayloadCodec;
import io.carillon.workflow.Branch;
import io.carillon.workflow.Flow.StepContext;
import io.carillon.workflow.Step;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Executes the code of steps that are not recorded, and records how they ended. */
final class FlowSteps {
    static final int MAX_TRIES = 10_000;
    private static final int MAX_SHOWN = 200;
    private static final int MAX_VALUE_BYTES = 1024 * 1024;

    /** Executes the code of a step, and writes its record. */
    @FunctionalInterface
    interface StepCall {
        StepRecord run(StepContext context) throws Exception;
    }

    /**
     * A step to be executed.
     *
     * @param undoable whether a record before this one says that the step can be undone
     */
    record PendingStep(String path, int position, Retry retry, boolean undoable, StepCall call) {
        NewStep failed(String error) {
            return new NewStep(position, path, null, error, null);
        }

        NewStep undo() {
            return new NewStep(StepKind.UNDO, position - 1, path, null, null, null);
        }
    }

    /** How a try of a step ended: it is recorded, or the attempt ends because of it. */
    record Try(@Nullable StepRecord record, @Nullable Outcome outcome) {}

    /** A result cannot be recorded. Another try would not change that. */
    private static final class UnrecordableException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnrecordableException(CarillonException cause) {
            super(cause.getMessage(), cause);
        }
    }

    final ActiveAttempt attempt;
    final FlowRecords records;
    final PayloadCodec codec;
    final WorkflowHandlers.StepThreads threads;
    private final Thread thread = Thread.currentThread();
    private @Nullable String current;

    FlowSteps(ActiveAttempt attempt, FlowRecords records, PayloadCodec codec, WorkflowHandlers.StepThreads threads) {
        this.attempt = attempt;
        this.records = records;
        this.codec = codec;
        this.threads = threads;
    }

    /** Fails if the flow may not be used here. */
    void requireOutside(String call) {
        if (Thread.currentThread() != thread)
            throw invalid("'%s' was called by another thread. Only the thread of the workflow may use the flow."
                    .formatted(call));
        if (current != null)
            throw invalid("'%s' was called inside step '%s'. A step must not use the flow.".formatted(call, current));
    }

    static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what);
    }

    /** Calls code of a step on the thread of the workflow. It must not use the flow. */
    void inside(String path, FlowCompensation.Undo code, int failures) throws Exception {
        current = path;
        try {
            code.run(failures);
        } finally {
            current = null;
        }
    }

    /** Executes the next step of the sequence, and returns its record. */
    StepRecord execute(PendingStep task, boolean mustUndo) {
        int failures = records.failuresSinceLastRecord();
        if (mustUndo && failures >= task.retry().attempts()) return records.write(task.failed(stopped(failures)));
        Try end = tryOnce(task, failures, records::write);
        StepRecord record = end.record();
        if (record != null) return record;
        throw end(task.retry(), requireNonNull(end.outcome()), mustUndo);
    }

    static String stopped(int failures) {
        return "%d tries were stopped or timed out".formatted(failures);
    }

    /** Ends the execution because of a try that is not recorded. */
    FlowRecords.Ended end(Retry retry, Outcome outcome, boolean mustUndo) {
        if (outcome instanceof Outcome.RetryAfter) {
            // The number of tries is that of the step. Failures of earlier steps do not count.
            attempt.retryBy(retry.attempts(MAX_TRIES));
            if (mustUndo) attempt.retryByWorkflow(retry.attempts(MAX_TRIES));
        }
        return records.end(outcome);
    }

    /** Tries a step once. {@code write} writes its record if the step has failed finally. */
    Try tryOnce(PendingStep task, int failures, RecordWriter write) {
        boolean onOwnThread = Thread.currentThread() == thread;
        if (onOwnThread) current = task.path();
        try {
            return new Try(task.call().run(new Context(attempt, task.path(), failures)), null);
        } catch (UnrecordableException unrecordable) {
            return new Try(write.write(task.failed(String.valueOf(unrecordable.getMessage()))), null);
        } catch (TransactionalCalls.NoConnectionException failure) {
            return new Try(null, Outcome.snoozed(TransactionalCalls.RETRY));
        } catch (Exception failure) {
            return afterFailure(task, failures, write, failure);
        } finally {
            if (onOwnThread) current = null;
        }
    }

    /** Writes a record. */
    @FunctionalInterface
    interface RecordWriter {
        StepRecord write(NewStep step);
    }

    private Try afterFailure(PendingStep task, int failures, RecordWriter write, Exception failure) {
        if (attempt.isStopRequested()) return new Try(null, Outcome.failed(failure));
        String error = ErrorText.of(failure);
        if (failures + 1 >= task.retry().attempts()) return new Try(write.write(task.failed(error)), null);
        return new Try(
                null,
                new Outcome.RetryAfter(
                        task.retry().delay(failures + 1, ThreadLocalRandom.current()),
                        "step '%s': %s".formatted(task.path(), error)));
    }

    static String path(Step<?> step) {
        String key = step.key();
        return key == null ? step.name() : step.name() + "[" + key + "]";
    }

    <T> PendingStep pending(Branch<T> branch, int position) {
        String path = path(branch.step());
        boolean undoable = branch.undo() != null;
        records.requireAt(position, StepKind.STEP, path);
        if (undoable) records.requireAt(position - 1, StepKind.UNDO, path);
        return new PendingStep(
                path,
                position,
                branch.step().retry(),
                undoable,
                context -> records.writeReserved(
                        new NewStep(position, path, encodeResult(branch.code().run(context)), null, null)));
    }

    /** Reads or writes the record of the keys, and returns the failures of the run when it was written. */
    int readKeys(String path, List<String> keys, int perItem) {
        Optional<StepRecord> known = records.read(StepKind.EACH, path);
        if (known.isEmpty()) {
            int reserved = keys.size() * perItem;
            records.requireBelowLimit(1 + reserved);
            Payload value = encode("list of keys", keys);
            return records.write(new NewStep(StepKind.EACH, records.position(), path, value, null, null, reserved))
                    .failures();
        }
        List<String> recorded =
                List.of(codec.decode(requireNonNull(known.get().value()).bytes(), String[].class));
        if (!recorded.equals(keys))
            throw records.changed("'%s' is recorded with the keys %s, but the code asks for %s"
                    .formatted(path, shown(recorded), shown(keys)));
        return known.get().failures();
    }

    private static String shown(List<String> keys) {
        String all = keys.toString();
        return all.length() <= MAX_SHOWN ? all : "%s… (%d keys)".formatted(all.substring(0, MAX_SHOWN), keys.size());
    }

    /** Encodes a result, or says why it cannot be recorded. */
    @Nullable
    Payload encodeResult(@Nullable Object value) {
        try {
            return encode("result", value);
        } catch (CarillonException unencodable) {
            throw new UnrecordableException(unencodable);
        }
    }

    @Nullable
    Payload encode(String what, @Nullable Object value) {
        if (value == null) return null;
        byte[] bytes = codec.encode(value);
        if (bytes.length > MAX_VALUE_BYTES)
            throw new CarillonException(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    ("The %s has %d bytes; at most %d bytes are recorded. Store the data elsewhere and return a"
                                    + " reference.")
                            .formatted(what, bytes.length, MAX_VALUE_BYTES));
        return new Payload(bytes, codec.name());
    }

    record Context(ActiveAttempt attempt, String path, int failures) implements StepContext {
        @Override
        public String idempotencyKey() {
            return attempt.idempotencyKey() + "/" + path;
        }

        @Override
        public boolean isStopRequested() {
            return attempt.isStopRequested();
        }
    }
}
