package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.store.run.WorkflowStepStore;
import io.carillon.internal.store.run.WorkflowStepStore.Holder;
import io.carillon.internal.store.run.WorkflowStepStore.NewAnswer;
import io.carillon.internal.store.run.WorkflowStepStore.NewStep;
import io.carillon.internal.store.run.WorkflowStepStore.Records;
import io.carillon.internal.store.run.WorkflowStepStore.StepKind;
import io.carillon.internal.store.run.WorkflowStepStore.StepRecord;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.RunId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The records of one execution of a workflow, and its place in them. A call that cannot continue ends the execution
 * with {@link Ended}.
 */
final class FlowRecords {
    static final int MAX_STEPS = 10_000;
    static final int MAX_TOTAL_BYTES = 16 * 1024 * 1024;

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
    private final List<StepRecord> records;
    private final Map<String, StepRecord> undone = new HashMap<>();
    private final @Nullable String cancelReason;
    private @Nullable StepRecord compensation;
    private @Nullable Outcome outcome;
    private boolean codeChanged;
    /** The time of the database clock at the last call of the store. A wait never ends before it. */
    private Instant lastRead;

    private int position;
    private long totalBytes;

    FlowRecords(ActiveAttempt attempt, WorkflowStepStore store) {
        this.attempt = attempt;
        this.store = store;
        Records known = store.load(attempt.project(), attempt.id());
        this.cancelReason = known.cancelReason();
        this.lastRead = known.now();
        this.records = new ArrayList<>();
        for (StepRecord one : known.steps()) {
            totalBytes += size(one.value());
            if (one.kind() == StepKind.UNDONE) undone.put(one.path(), one);
            else if (one.kind() == StepKind.COMPENSATE) compensation = one;
            else records.add(one);
        }
        if (hasUndo() && (cancelReason != null || compensation != null)) attempt.ignoreCancel();
    }

    /** Returns whether a step was registered that can be undone. */
    boolean hasUndo() {
        return records.stream().anyMatch(one -> one.kind() == StepKind.UNDO);
    }

    /** Returns why the workflow is to be cancelled; null if it is not. */
    @Nullable
    String cancelReason() {
        return cancelReason;
    }

    /** Returns the record with which the workflow began to undo its steps; null if it has not. */
    @Nullable
    StepRecord compensation() {
        return compensation;
    }

    /** Returns what became of the step of this path when it was undone; null if it was not yet. */
    @Nullable
    StepRecord undone(String path) {
        return undone.get(path);
    }

    /** Returns whether the code does not match the records, so that nothing may be decided by it. */
    boolean codeChanged() {
        return codeChanged;
    }

    /** Returns the outcome with which a call has ended this execution; null if none has. */
    @Nullable
    Outcome outcome() {
        return outcome;
    }

    int position() {
        return position;
    }

    /** Returns the time of the last record that was read, or the due time of the run. */
    Instant now() {
        return position == 0 ? attempt.dueAt() : records.get(position - 1).recordedAt();
    }

    /** Returns how often the attempt failed since the last record: the failures of the step under way. */
    int failuresSinceLastRecord() {
        return attempt.failures()
                - (position == 0 ? 0 : records.get(position - 1).failures());
    }

    /** Fails if the code has returned without the calls that are recorded. */
    void requireAllRead() {
        if (position < records.size())
            throw changed("position %d is recorded as '%s', but the code has returned"
                    .formatted(position, records.get(position).path()));
    }

    /** Reads the record at this position, if there is one, and moves on. */
    Optional<StepRecord> read(StepKind kind, String path) {
        requireNotEnded();
        if (position < records.size()) {
            StepRecord known = records.get(position);
            if (!known.path().equals(path) || !matches(known.kind(), kind))
                throw changed("position %d is recorded as %s '%s', but the code asks for %s '%s'"
                        .formatted(position, known.kind().text(), known.path(), kind.text(), path));
            position++;
            return Optional.of(known);
        }
        if (attempt.isStopRequested() || cancelReason != null || compensation != null)
            throw end(Outcome.snoozed(Duration.ZERO));
        if (position >= MAX_STEPS) throw tooMuch("%d steps and waits".formatted(MAX_STEPS));
        return Optional.empty();
    }

    /** Returns whether the next record was written by code without this change. */
    boolean isOlderThan(String change) {
        requireNotEnded();
        return position < records.size()
                && !(records.get(position).kind() == StepKind.VERSION
                        && records.get(position).path().equals(change));
    }

    private static boolean matches(StepKind recorded, StepKind asked) {
        return recorded == asked || (asked == StepKind.SIGNAL && recorded == StepKind.TIMEOUT);
    }

    void requireNotEnded() {
        if (outcome != null) throw end(outcome);
    }

    /** Writes the record at this position, and moves on. */
    StepRecord write(NewStep step) {
        totalBytes += size(step.value());
        if (totalBytes > MAX_TOTAL_BYTES) throw tooMuch("%d MiB of results".formatted(MAX_TOTAL_BYTES >> 20));
        return add(store(() -> store.record(holder(), step)).orElseThrow(() -> leaseLost(step.path())));
    }

    private Ended leaseLost(String path) {
        return end(Outcome.failed(new CarillonException(
                ErrorCode.LEASE_LOST,
                "Run %s was taken over by another node; step '%s' of this attempt is not recorded."
                        .formatted(attempt.id(), path))));
    }

    /** Writes the record with which the workflow begins to undo its steps. */
    StepRecord writeCompensation(boolean cancelled, String reason) {
        attempt.ignoreCancel();
        StepRecord written = writeLast(StepKind.COMPENSATE, cancelled ? "cancelled" : "failed", reason);
        compensation = written;
        return written;
    }

    /** Writes what became of a step that was undone. */
    StepRecord writeUndone(String path, @Nullable String error) {
        StepRecord written = writeLast(StepKind.UNDONE, path, error);
        undone.put(path, written);
        return written;
    }

    /** Returns how often the attempt failed since a step was undone: the failures of the undo under way. */
    int failuresSinceUndone() {
        StepRecord last = undone.values().stream()
                .max(Comparator.comparingInt(StepRecord::position))
                .orElse(compensation);
        return attempt.failures() - (last == null ? 0 : last.failures());
    }

    private StepRecord writeLast(StepKind kind, String path, @Nullable String error) {
        int last = records.size() + undone.size() + (compensation == null ? 0 : 1);
        NewStep step = new NewStep(kind, last, path, null, error, null);
        return store(() -> store.record(holder(), step)).orElseThrow(() -> leaseLost(path));
    }

    /** Writes the record of a wait for a run, and moves on. */
    void writeRunWait(String path, RunId awaited) {
        NewStep step = new NewStep(StepKind.AWAIT_RUN, position, path, null, null, null);
        add(store(() -> store.recordRunWait(holder(), step, awaited)).orElseThrow(() -> leaseLost(path)));
    }

    /** Writes the answer to the await before this position, if there is one, and moves on. */
    Optional<StepRecord> writeAnswer(String path, String signal) {
        return addAnswer(store(() -> store.answer(holder(), new NewAnswer(position, path, signal))));
    }

    /** Writes the end of the awaited run, if it has ended, and moves on. */
    Optional<StepRecord> writeRunEnd(String path, RunId awaited) {
        return addAnswer(store(() -> store.answerRun(holder(), position, path, awaited)));
    }

    private Optional<StepRecord> addAnswer(Optional<StepRecord> answer) {
        answer.ifPresent(written -> {
            totalBytes += size(written.value());
            add(written);
        });
        return answer;
    }

    private Holder holder() {
        return new Holder(attempt.project(), attempt.id(), attempt.owner(), attempt.attempt());
    }

    private <T> T store(Supplier<T> write) {
        try {
            return attempt.withoutInterrupt(write);
        } catch (RuntimeException unrecorded) {
            throw end(Outcome.failed(unrecorded));
        }
    }

    private StepRecord add(StepRecord written) {
        records.add(written);
        position++;
        lastRead = written.recordedAt();
        return written;
    }

    /** Ends the execution unless this time is over. */
    void waitUntil(Instant until) {
        Duration left = Duration.between(lastRead, until);
        if (left.isNegative() || left.isZero()) return;
        attempt.markWaiting();
        throw end(Outcome.snoozed(left));
    }

    /** Ends the execution until this time, or until the answer arrives. */
    Ended awaitAnswer(Instant until) {
        attempt.markAwaitingAnswer();
        attempt.markWaiting();
        Duration left = Duration.between(lastRead, until);
        return end(Outcome.snoozed(left.isNegative() ? Duration.ZERO : left));
    }

    private static int size(@Nullable Payload value) {
        return value == null ? 0 : value.bytes().length;
    }

    Ended end(Outcome with) {
        outcome = with;
        return new Ended(with);
    }

    /** Ends the execution until the awaited run has ended. */
    Ended awaitRunEnd() {
        return awaitAnswer(lastRead.plus(Duration.ofDays(365)));
    }

    /** Ends the workflow: another execution would meet the same limit. */
    private Ended tooMuch(String limit) {
        return end(Outcome.rejected(
                "A workflow can record at most %s. Start another workflow for the rest.".formatted(limit)));
    }

    /** Fails this attempt by the retry settings of the run: during an upgrade, another node may have the right code. */
    Ended changed(String difference) {
        codeChanged = true;
        return end(Outcome.failed(new CarillonException(
                ErrorCode.INVALID_OPTION,
                "The code of workflow '%s' does not match its records: %s."
                        .formatted(attempt.attemptValue().target().name(), difference))));
    }
}
