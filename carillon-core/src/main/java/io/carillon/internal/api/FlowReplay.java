package io.carillon.internal.api;

import static java.util.Objects.requireNonNull;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.run.ErrorText;
import io.carillon.internal.store.run.WorkflowStepStore;
import io.carillon.internal.store.run.WorkflowStepStore.Holder;
import io.carillon.internal.store.run.WorkflowStepStore.NewStep;
import io.carillon.internal.store.run.WorkflowStepStore.Records;
import io.carillon.internal.store.run.WorkflowStepStore.StepRecord;
import io.carillon.internal.value.Names;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.spi.PayloadCodec;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Step;
import io.carillon.workflow.StepFailedException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a workflow: returns what is recorded, and executes and records what is not. A call that cannot
 * continue ends the execution with {@link Ended}.
 */
final class FlowReplay implements Flow {
    static final int MAX_STEPS = 10_000;
    static final int MAX_VALUE_BYTES = 1024 * 1024;
    static final int MAX_TOTAL_BYTES = 16 * 1024 * 1024;
    private static final Duration MAX_SLEEP = Duration.ofDays(36_500);
    private static final int MAX_TRIES = 10_000;

    /** Ends an execution: the workflow waits, or something failed that its code must not catch. */
    static final class Ended extends Error {
        private static final long serialVersionUID = 1;
        private final transient Outcome outcome;

        private Ended(Outcome outcome) {
            super("the execution of the workflow has ended: " + outcome, null, false, false);
            this.outcome = outcome;
        }

        Outcome outcome() {
            return outcome;
        }
    }

    private final ActiveAttempt attempt;
    private final WorkflowStepStore store;
    private final PayloadCodec codec;
    private final Thread thread = Thread.currentThread();
    private final List<StepRecord> records;
    private final Set<String> paths = new HashSet<>();
    private final SplittableRandom random;
    private @Nullable String currentPath;
    private @Nullable String currentStep;
    private @Nullable Outcome outcome;
    private @Nullable StepFailedException finalFailure;
    /** The time of the database clock at the last call of the store. A sleep never ends before it. */
    private Instant lastRead;

    private int position;
    private long totalBytes;

    FlowReplay(ActiveAttempt attempt, WorkflowStepStore store, PayloadCodec codec) {
        this.attempt = attempt;
        this.store = store;
        this.codec = codec;
        UUID id = attempt.id().value();
        this.random = new SplittableRandom(id.getMostSignificantBits() ^ id.getLeastSignificantBits());
        Records known = store.load(attempt.project(), attempt.id());
        this.records = new ArrayList<>(known.steps());
        this.lastRead = known.now();
        for (StepRecord one : records) totalBytes += size(one.value());
    }

    /** Returns the outcome with which a call has ended this execution; null if none has. */
    @Nullable
    Outcome outcome() {
        return outcome;
    }

    /** Returns whether this failure is recorded in this workflow, so that another execution would find it again. */
    boolean isFinal(StepFailedException failed) {
        return failed == finalFailure;
    }

    /** Fails if the code has returned without the calls that are recorded. */
    void requireAllRecordsRead() {
        if (position < records.size())
            throw changed("position %d is recorded as '%s', but the code has returned"
                    .formatted(position, records.get(position).path()));
    }

    @Override
    public <T> @Nullable T run(Step<T> step, StepCode<T> code) {
        String key = step.key();
        StepRecord known = next(key == null ? step.name() : step.name() + "[" + key + "]", false);
        return known == null ? execute(step, code) : result(step, known);
    }

    private <T> @Nullable T result(Step<T> step, StepRecord known) {
        position++;
        String error = known.error();
        if (error != null) {
            StepFailedException failed = new StepFailedException(known.path(), error);
            finalFailure = failed;
            throw failed;
        }
        Payload value = known.value();
        return value == null ? null : codec.decode(value.bytes(), step.resultType());
    }

    private <T> @Nullable T execute(Step<T> step, StepCode<T> code) {
        String path = requireNonNull(currentPath);
        int failures = attempt.failures()
                - (position == 0 ? 0 : records.get(position - 1).failures());
        T value;
        currentStep = path;
        try {
            value = code.run(new Context(attempt, path, failures));
        } catch (Exception failure) {
            return fail(step, path, failures, failure);
        } finally {
            currentStep = null;
        }
        try {
            record(new NewStep(position, path, encode(value), null, null));
        } catch (CarillonException unencodable) {
            record(new NewStep(position, path, null, String.valueOf(unencodable.getMessage()), null));
        }
        return result(step, records.get(position));
    }

    private <T> @Nullable T fail(Step<T> step, String path, int failures, Exception failure) {
        if (attempt.isStopRequested()) throw end(Outcome.failed(failure));
        String error = ErrorText.of(failure);
        if (failures + 1 < step.retry().attempts()) {
            Retry retry = step.retry();
            // The number of tries is that of the step. Failures of earlier steps do not count.
            attempt.retryBy(retry.attempts(MAX_TRIES));
            throw end(new Outcome.RetryAfter(
                    retry.delay(failures + 1, ThreadLocalRandom.current()), "step '%s': %s".formatted(path, error)));
        }
        record(new NewStep(position, path, null, error, null));
        return result(step, records.get(position));
    }

    @Override
    public void sleep(String name, Duration duration) {
        Names.check("sleep", name);
        if (duration.isNegative() || duration.compareTo(MAX_SLEEP) > 0)
            throw invalid("sleep '%s' must last between 0 and 100 years (was %s).".formatted(name, duration));
        StepRecord known = next(name, true);
        if (known == null) record(new NewStep(position, name, null, null, duration));
        Instant until = requireNonNull(records.get(position).until());
        Duration left = Duration.between(lastRead, until);
        if (!left.isNegative() && !left.isZero()) throw end(Outcome.snoozed(left));
        position++;
    }

    /** Begins a call, and returns its record; null if there is none yet. */
    private @Nullable StepRecord next(String path, boolean sleep) {
        if (outcome != null) throw end(outcome);
        if (Thread.currentThread() != thread)
            throw invalid("'%s' was called by another thread. Only the thread of the workflow may use the flow."
                    .formatted(path));
        if (currentStep != null)
            throw invalid(
                    "'%s' was called inside step '%s'. A step must not use the flow.".formatted(path, currentStep));
        if (!paths.add(path))
            throw invalid("'%s' is used twice in this workflow. Give each call another key or name.".formatted(path));
        currentPath = path;
        if (position < records.size()) {
            StepRecord known = records.get(position);
            if (!known.path().equals(path) || (known.until() != null) != sleep)
                throw changed("position %d is recorded as %s '%s', but the code asks for %s '%s'"
                        .formatted(position, kind(known.until() != null), known.path(), kind(sleep), path));
            return known;
        }
        if (attempt.isStopRequested()) throw end(Outcome.snoozed(Duration.ZERO));
        if (position >= MAX_STEPS) throw tooMuch("%d steps and sleeps".formatted(MAX_STEPS));
        return null;
    }

    private static String kind(boolean sleep) {
        return sleep ? "sleep" : "step";
    }

    private void record(NewStep step) {
        totalBytes += size(step.value());
        if (totalBytes > MAX_TOTAL_BYTES) throw tooMuch("%d MiB of results".formatted(MAX_TOTAL_BYTES >> 20));
        Holder holder = new Holder(attempt.project(), attempt.id(), attempt.owner(), attempt.attempt());
        try {
            StepRecord written = attempt.withoutInterrupt(() -> store.record(holder, step))
                    .orElseThrow(() -> new CarillonException(
                            ErrorCode.LEASE_LOST,
                            "Run %s was taken over by another node; step '%s' of this attempt is not recorded."
                                    .formatted(attempt.id(), step.path())));
            records.add(written);
            lastRead = written.recordedAt();
        } catch (RuntimeException unrecorded) {
            throw end(Outcome.failed(unrecorded));
        }
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

    private static int size(@Nullable Payload value) {
        return value == null ? 0 : value.bytes().length;
    }

    private Ended end(Outcome with) {
        outcome = with;
        return new Ended(with);
    }

    /** Ends the workflow: another execution would meet the same limit. */
    private Ended tooMuch(String limit) {
        return end(Outcome.rejected(
                "A workflow can record at most %s. Start another workflow for the rest.".formatted(limit)));
    }

    /** Fails this attempt by the retry settings of the run: during an upgrade, another node may have the right code. */
    private Ended changed(String difference) {
        return end(Outcome.failed(new CarillonException(
                ErrorCode.INVALID_OPTION,
                "The code of workflow '%s' does not match its records: %s."
                        .formatted(attempt.attemptValue().target().name(), difference))));
    }

    private static CarillonException invalid(String what) {
        return new CarillonException(ErrorCode.INVALID_OPTION, what);
    }

    @Override
    public Instant now() {
        return position == 0 ? attempt.dueAt() : records.get(position - 1).recordedAt();
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
