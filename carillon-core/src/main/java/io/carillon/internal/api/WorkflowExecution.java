package io.carillon.internal.api;

import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.run.ErrorText;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.store.run.WorkflowStepStore;
import io.carillon.internal.store.run.WorkflowStepStore.NewStep;
import io.carillon.internal.store.run.WorkflowStepStore.StepKind;
import io.carillon.internal.store.run.WorkflowStepStore.StepRecord;
import io.carillon.internal.value.Names;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.spi.PayloadCodec;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Signal;
import io.carillon.workflow.Step;
import io.carillon.workflow.StepFailedException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a workflow: returns what is recorded, and executes and records what is not. A call that cannot
 * continue ends the execution with {@link FlowRecords.Ended}.
 */
final class WorkflowExecution implements Flow {
    private static final int MAX_VALUE_BYTES = 1024 * 1024;
    private static final Duration MAX_WAIT = Duration.ofDays(36_500);
    private static final int MAX_TRIES = 10_000;

    private final ActiveAttempt attempt;
    private final PayloadCodec codec;
    private final FlowRecords records;
    private final FlowCompensation compensation;
    private final RetryRule retryRule;
    private final Thread thread = Thread.currentThread();
    private final Set<String> paths = new HashSet<>();
    private final Map<String, Integer> awaits = new HashMap<>();
    private final SplittableRandom random;
    private @Nullable String currentStep;
    private @Nullable StepFailedException finalFailure;

    WorkflowExecution(ActiveAttempt attempt, WorkflowStepStore store, PayloadCodec codec, RetryRule ofHandler) {
        this.retryRule = attempt.retryRule(ofHandler);
        this.attempt = attempt;
        this.codec = codec;
        this.records = new FlowRecords(attempt, store);
        this.compensation = new FlowCompensation(attempt, records);
        UUID id = attempt.id().value();
        this.random = new SplittableRandom(id.getMostSignificantBits() ^ id.getLeastSignificantBits());
    }

    /** Returns the outcome with which a call has ended this execution; null if none has. */
    @Nullable
    Outcome outcome() {
        return records.outcome();
    }

    /** Returns whether this failure is recorded in this workflow, so that another execution would find it again. */
    boolean isFinal(StepFailedException failed) {
        return failed == finalFailure;
    }

    /** Fails if the code has returned without the calls that are recorded. */
    void requireAllRecordsRead() {
        records.requireAllRead();
    }

    @Override
    public <T> @Nullable T run(Step<T> step, StepCode<T> code) {
        String path = path(step);
        beginCall(path, path);
        Optional<StepRecord> known = records.read(StepKind.STEP, path);
        return known.isPresent() ? result(known.get(), step.resultType()) : execute(step, path, code);
    }

    @Override
    public <T> @Nullable T run(Step<T> step, StepCode<T> code, UndoCode<T> undo) {
        String path = path(step);
        beginCall(path, path);
        if (records.read(StepKind.UNDO, path).isEmpty())
            records.write(new NewStep(StepKind.UNDO, records.position(), path, null, null, null));
        // The workflow itself decides when it has failed finally: until its steps are undone, it must not end.
        attempt.retryByWorkflow(retryRule.policy().attempts(MAX_TRIES));
        List<T> results = new ArrayList<>();
        compensation.register(path, step.retry(), failures -> {
            currentStep = path;
            try {
                undo.undo(results.isEmpty() ? null : results.get(0), new Context(attempt, path + "/undo", failures));
            } finally {
                currentStep = null;
            }
        });
        Optional<StepRecord> known = records.read(StepKind.STEP, path);
        T result = known.isPresent() ? result(known.get(), step.resultType()) : execute(step, path, code);
        if (result != null) results.add(result);
        return result;
    }

    /**
     * Returns how the attempt ends after the code ended so, once the steps are undone if the workflow has failed
     * finally or is cancelled.
     */
    @Nullable
    Object afterCode(@Nullable Object ended) {
        if (compensation.isEmpty() && !records.hasUndo()) attempt.endOnCancel();
        if (compensation.isEmpty() || records.codeChanged()) return ended;
        StepRecord begun = records.compensation();
        if (begun != null) return compensation.run(begun.path().equals("cancelled"), "");
        if (!(ended instanceof Outcome outcome) || outcome instanceof Outcome.Succeeded) return ended;
        String cancelled = records.cancelReason();
        if (cancelled != null) return compensation.run(true, cancelled);
        if (attempt.isStopRequested()) return ended;
        if (outcome instanceof Outcome.Rejected rejected) return compensation.run(false, rejected.reason());
        if (outcome instanceof Outcome.Failed failed && isFinal(failed.error()))
            return compensation.run(false, ErrorText.of(failed.error()));
        return ended;
    }

    private boolean isFinal(Throwable error) {
        return retryRule.isFinal(error)
                || attempt.failures() + 1 >= retryRule.policy().attempts();
    }

    private static String path(Step<?> step) {
        String key = step.key();
        return key == null ? step.name() : step.name() + "[" + key + "]";
    }

    private <T> @Nullable T result(StepRecord known, Class<T> type) {
        String error = known.error();
        if (error != null) {
            StepFailedException failed = new StepFailedException(known.path(), error);
            finalFailure = failed;
            throw failed;
        }
        Payload value = known.value();
        return value == null ? null : codec.decode(value.bytes(), type);
    }

    private <T> @Nullable T execute(Step<T> step, String path, StepCode<T> code) {
        int failures = records.failuresSinceLastRecord();
        if (!compensation.isEmpty() && failures >= step.retry().attempts())
            return result(
                    writeStep(path, null, "%d tries were stopped or timed out".formatted(failures)), step.resultType());
        T value;
        currentStep = path;
        try {
            value = code.run(new Context(attempt, path, failures));
        } catch (Exception failure) {
            return fail(step, path, failures, failure);
        } finally {
            currentStep = null;
        }
        Payload encoded;
        try {
            encoded = encode(value);
        } catch (CarillonException unencodable) {
            return result(writeStep(path, null, String.valueOf(unencodable.getMessage())), step.resultType());
        }
        return result(writeStep(path, encoded, null), step.resultType());
    }

    private StepRecord writeStep(String path, @Nullable Payload value, @Nullable String error) {
        return records.write(new NewStep(records.position(), path, value, error, null));
    }

    private <T> @Nullable T fail(Step<T> step, String path, int failures, Exception failure) {
        if (attempt.isStopRequested()) throw records.end(Outcome.failed(failure));
        String error = ErrorText.of(failure);
        if (failures + 1 < step.retry().attempts()) {
            Retry retry = step.retry();
            // The number of tries is that of the step. Failures of earlier steps do not count.
            attempt.retryBy(retry.attempts(MAX_TRIES));
            if (!compensation.isEmpty()) attempt.retryByWorkflow(retry.attempts(MAX_TRIES));
            throw records.end(new Outcome.RetryAfter(
                    retry.delay(failures + 1, ThreadLocalRandom.current()), "step '%s': %s".formatted(path, error)));
        }
        return result(writeStep(path, null, error), step.resultType());
    }

    @Override
    public void sleep(String name, Duration duration) {
        Names.check("sleep", name);
        checkDuration("sleep '%s' must last".formatted(name), duration);
        beginCall(name, name);
        StepRecord sleep = records.read(StepKind.SLEEP, name)
                .orElseGet(() -> records.write(new NewStep(records.position(), name, null, null, duration)));
        records.waitUntil(requireNonNull(sleep.until()));
    }

    @Override
    public <T> Optional<T> await(Signal<T> signal, Duration timeout) {
        checkDuration("the time limit of signal '%s' must be".formatted(signal.name()), timeout);
        int number = awaits.merge(signal.name(), 1, Integer::sum);
        String path = number == 1 ? signal.name() : signal.name() + "#" + number;
        beginCall("await " + path, path);
        StepRecord await = records.read(StepKind.AWAIT, path)
                .orElseGet(() ->
                        records.write(new NewStep(StepKind.AWAIT, records.position(), path, null, null, timeout)));
        StepRecord answer = records.read(StepKind.SIGNAL, path)
                .or(() -> records.writeAnswer(path, signal.name()))
                .orElseThrow(() -> records.awaitAnswer(requireNonNull(await.until())));
        Payload value = answer.value();
        return value == null ? Optional.empty() : Optional.of(codec.decode(value.bytes(), signal.valueType()));
    }

    @Override
    public <T> @Nullable T awaitRun(RunId run, Class<T> resultType) {
        String path = run.toString();
        beginCall(path, path);
        if (records.read(StepKind.AWAIT_RUN, path).isEmpty()) records.writeRunWait(path, run);
        StepRecord answer = records.read(StepKind.RUN_ENDED, path)
                .or(() -> records.writeRunEnd(path, run))
                .orElseThrow(records::awaitRunEnd);
        return result(answer, resultType);
    }

    @Override
    public int version(String change, int min, int max) {
        Names.check("change", change);
        if (min < 0 || max < min)
            throw invalid("versions of change '%s' must be at least 0, and the first at most the last (were %d and %d)."
                    .formatted(change, min, max));
        beginCall("version " + change, change);
        if (records.isOlderThan(change)) return min;
        StepRecord known = records.read(StepKind.VERSION, change)
                .orElseGet(() -> records.write(
                        new NewStep(StepKind.VERSION, records.position(), change, encode(max), null, null)));
        int version = codec.decode(requireNonNull(known.value()).bytes(), Integer.class);
        if (version < min || version > max)
            throw records.changed("change '%s' is recorded with version %d, but the code supports %d to %d"
                    .formatted(change, version, min, max));
        return version;
    }

    private static void checkDuration(String what, Duration duration) {
        if (duration.isNegative() || duration.compareTo(MAX_WAIT) > 0)
            throw invalid("%s between 0 and 100 years (was %s).".formatted(what, duration));
    }

    /** Begins a call that is recorded: refuses it if its identity is in use, or if the flow may not be used here. */
    private void beginCall(String identity, String path) {
        records.requireNotEnded();
        if (Thread.currentThread() != thread)
            throw invalid("'%s' was called by another thread. Only the thread of the workflow may use the flow."
                    .formatted(path));
        if (currentStep != null)
            throw invalid(
                    "'%s' was called inside step '%s'. A step must not use the flow.".formatted(path, currentStep));
        if (!paths.add(identity))
            throw invalid("'%s' is used twice in this workflow. Give each call another key or name.".formatted(path));
    }

    private @Nullable Payload encode(@Nullable Object value) {
        if (value == null) return null;
        byte[] bytes = codec.encode(value);
        if (bytes.length > MAX_VALUE_BYTES)
            throw new CarillonException(
                    ErrorCode.PAYLOAD_TOO_LARGE,
                    ("The result has %d bytes; at most %d bytes are recorded. Store the data elsewhere and return a"
                                    + " reference.")
                            .formatted(bytes.length, MAX_VALUE_BYTES));
        return new Payload(bytes, codec.name());
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what);
    }

    @Override
    public Instant now() {
        return records.now();
    }

    @Override
    public double random() {
        return random.nextDouble();
    }

    @Override
    public UUID uuid() {
        byte[] name = (attempt.id() + "/" + random.nextLong()).getBytes(StandardCharsets.UTF_8);
        return UUID.nameUUIDFromBytes(name);
    }

    @Override
    public RunId id() {
        return attempt.id();
    }

    @Override
    public String project() {
        return attempt.project();
    }

    private record Context(ActiveAttempt attempt, String path, int failures) implements StepContext {
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
