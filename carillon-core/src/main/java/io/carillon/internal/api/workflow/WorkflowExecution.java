package io.carillon.internal.api.workflow;

import static java.util.Objects.requireNonNull;

import io.carillon.internal.api.workflow.FlowSteps.PendingStep;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.run.ErrorText;
import io.carillon.internal.run.RetryRule;
import io.carillon.internal.store.run.WorkflowStepStore.NewStep;
import io.carillon.internal.store.run.WorkflowStepStore.StepKind;
import io.carillon.internal.store.run.WorkflowStepStore.StepRecord;
import io.carillon.internal.value.Names;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Retry;
import io.carillon.run.RunId;
import io.carillon.spi.PayloadCodec;
import io.carillon.workflow.Branch;
import io.carillon.workflow.Flow;
import io.carillon.workflow.Signal;
import io.carillon.workflow.Step;
import io.carillon.workflow.StepFailedException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One execution of a workflow: returns what is recorded, and executes and records what is not. A call that cannot
 * continue ends the execution with {@link FlowRecords.Ended}.
 */
final class WorkflowExecution implements Flow {
    private static final Duration MAX_WAIT = Duration.ofDays(36_500);

    private final ActiveAttempt attempt;
    private final FlowSteps steps;
    private final PayloadCodec codec;
    private final FlowRecords records;
    private final FlowCompensation compensation;
    private final RetryRule retryRule;
    private final Set<String> paths = new HashSet<>();
    private final Map<String, Integer> awaits = new HashMap<>();
    private final SplittableRandom random;
    private @Nullable StepFailedException finalFailure;

    WorkflowExecution(ActiveAttempt attempt, FlowSteps steps, RetryRule ofHandler) {
        this.retryRule = attempt.retryRule(ofHandler);
        this.attempt = attempt;
        this.steps = steps;
        this.codec = steps.codec;
        this.records = steps.records;
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
        String path = FlowSteps.path(step);
        beginCall(path, path);
        return execute(step, path, context -> steps.encodeResult(code.run(context)));
    }

    @Override
    public <T> @Nullable T run(Step<T> step, StepCode<T> code, UndoCode<T> undo) {
        String path = FlowSteps.path(step);
        beginCall(path, path);
        if (records.read(StepKind.UNDO, path).isEmpty())
            records.write(new NewStep(StepKind.UNDO, records.position(), path, null, null, null));
        endOnlyByItself();
        List<T> results = new ArrayList<>();
        registerUndo(path, step.retry(), context -> undo.undo(results.isEmpty() ? null : results.get(0), context));
        T result = execute(step, path, context -> steps.encodeResult(code.run(context)));
        if (result != null) results.add(result);
        return result;
    }

    @Override
    public <T> @Nullable T runInTransaction(Step<T> step, TransactionCode<T> code) {
        String path = FlowSteps.path(step);
        beginCall(path, path);
        return executeAndRecord(
                step,
                path,
                (position, context) -> attempt.transactions().inTransaction(connection -> {
                    Payload result = steps.encodeResult(code.run(connection, context));
                    return records.writeAndCommit(connection, new NewStep(position, path, result, null, null));
                }));
    }

    /** Executes a step and encodes its result. */
    @FunctionalInterface
    private interface EncodedCode {
        @Nullable
        Payload run(StepContext context) throws Exception;
    }

    /** Executes a step and records its result at this position. */
    @FunctionalInterface
    private interface RecordingCode {
        StepRecord run(int position, StepContext context) throws Exception;
    }

    /** Executes the next step unless it is recorded, and returns its result. */
    private <T> @Nullable T execute(Step<T> step, String path, EncodedCode code) {
        return executeAndRecord(
                step,
                path,
                (position, context) -> records.write(new NewStep(position, path, code.run(context), null, null)));
    }

    private <T> @Nullable T executeAndRecord(Step<T> step, String path, RecordingCode code) {
        Optional<StepRecord> known = records.read(StepKind.STEP, path);
        if (known.isPresent()) return result(known.get(), step.resultType());
        int position = records.position();
        PendingStep task = new PendingStep(path, position, step.retry(), false, context -> code.run(position, context));
        return result(steps.execute(task, !compensation.isEmpty()), step.resultType());
    }

    /** The workflow itself decides when it has failed finally: until its steps are undone, it must not end. */
    private void endOnlyByItself() {
        attempt.retryByWorkflow(retryRule.policy().attempts(FlowSteps.MAX_TRIES));
    }

    /** Undoes a step. */
    @FunctionalInterface
    private interface Undo {
        void run(StepContext context) throws Exception;
    }

    private void registerUndo(String path, Retry retry, Undo undo) {
        compensation.register(
                path,
                retry,
                tries -> steps.inside(
                        path, failures -> undo.run(new FlowSteps.Context(attempt, path + "/undo", failures)), tries));
    }

    @Override
    public <I, T> List<T> each(Step<T> step, List<I> items, Function<? super I, String> key, ItemCode<I, T> code) {
        return eachItem(step, items, key, (item, keyed) -> Branch.of(keyed, context -> code.run(item, context)));
    }

    @Override
    public <I, T> List<T> each(
            Step<T> step,
            List<I> items,
            Function<? super I, String> key,
            ItemCode<I, T> code,
            ItemUndoCode<I, T> undo) {
        return eachItem(
                step,
                items,
                key,
                (item, keyed) -> Branch.of(keyed, (StepCode<T>) context -> code.run(item, context))
                        .undo((result, context) -> undo.undo(item, result, context)));
    }

    private <I, T> List<T> eachItem(
            Step<T> step, List<I> items, Function<? super I, String> key, BiFunction<I, Step<T>, Branch<T>> branch) {
        if (step.key() != null)
            throw FlowSteps.invalid("step '%s' has the key '%s', but here each item gives its own key."
                    .formatted(step.name(), step.key()));
        List<String> keys = new ArrayList<>();
        List<Branch<T>> branches = new ArrayList<>();
        for (I item : items) {
            keys.add(key.apply(item));
            branches.add(branch.apply(item, step.key(keys.get(keys.size() - 1))));
        }
        return together(step.name(), keys, branches);
    }

    @Override
    public <T> List<T> parallel(String name, List<? extends Branch<? extends T>> branches) {
        Names.check("call", name);
        return together(
                name, branches.stream().map(one -> FlowSteps.path(one.step())).toList(), List.copyOf(branches));
    }

    /** Executes steps in parallel, and returns their results in the order of the list. */
    private <T> List<T> together(String name, List<String> keys, List<? extends Branch<? extends T>> branches) {
        beginCall(name, name);
        for (Branch<?> branch : branches) {
            String path = FlowSteps.path(branch.step());
            addPath(path, path);
        }
        boolean undoable = branches.stream().anyMatch(one -> one.undo() != null);
        int perStep = undoable ? 2 : 1;
        int failures = steps.readKeys(name, keys, perStep);
        int first = records.reserve(branches.size() * perStep);
        List<PendingStep> pending = new ArrayList<>();
        for (Branch<?> branch : branches)
            pending.add(steps.pending(branch, first + (pending.size() + 1) * perStep - 1));
        if (undoable) endOnlyByItself();
        try {
            new StepGroup(steps, pending, failures, !compensation.isEmpty() || undoable).run();
        } finally {
            records.readReserved(first);
            for (int i = 0; i < pending.size(); i++) registerUndo(branches.get(i), pending.get(i));
        }
        for (PendingStep step : pending) {
            StepRecord record = records.at(step.position());
            if (record != null && record.error() != null) result(record, Object.class);
        }
        List<T> results = new ArrayList<>();
        for (int i = 0; i < pending.size(); i++)
            results.add(result(
                    requireNonNull(records.at(pending.get(i).position())),
                    branches.get(i).step().resultType()));
        return Collections.unmodifiableList(results);
    }

    private <T> void registerUndo(Branch<T> branch, PendingStep step) {
        UndoCode<? super T> undo = branch.undo();
        if (undo == null || records.at(step.position() - 1) == null) return;
        StepRecord record = records.at(step.position());
        registerUndo(step.path(), step.retry(), context -> {
            T result = record == null || record.error() != null
                    ? null
                    : result(record, branch.step().resultType());
            undo.undo(result, context);
        });
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
            throw FlowSteps.invalid(
                    "versions of change '%s' must be at least 0, and the first at most the last (were %d and %d)."
                            .formatted(change, min, max));
        beginCall("version " + change, change);
        if (records.isOlderThan(change)) return min;
        StepRecord known = records.read(StepKind.VERSION, change)
                .orElseGet(() -> records.write(new NewStep(
                        StepKind.VERSION, records.position(), change, steps.encode("version", max), null, null)));
        int version = codec.decode(requireNonNull(known.value()).bytes(), Integer.class);
        if (version < min || version > max)
            throw records.changed("change '%s' is recorded with version %d, but the code supports %d to %d"
                    .formatted(change, version, min, max));
        return version;
    }

    private static void checkDuration(String what, Duration duration) {
        if (duration.isNegative() || duration.compareTo(MAX_WAIT) > 0)
            throw FlowSteps.invalid("%s between 0 and 100 years (was %s).".formatted(what, duration));
    }

    /** Begins a call that is recorded: refuses it if its identity is in use, or if the flow may not be used here. */
    private void beginCall(String identity, String path) {
        records.requireNotEnded();
        steps.requireOutside(path);
        addPath(identity, path);
    }

    private void addPath(String identity, String path) {
        if (!paths.add(identity))
            throw FlowSteps.invalid(
                    "'%s' is used twice in this workflow. Give each call another key or name.".formatted(path));
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
}
