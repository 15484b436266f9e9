package io.carillon.internal.api.workflow;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.engine.attempt.ActiveAttempt;
import io.carillon.internal.jdbc.GroupCommit;
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
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
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
    private final GroupCommit<NewStep, StepRecord> sharedCommit = new GroupCommit<>(1, this::writeAll);
    private final NavigableMap<Integer, StepRecord> records = new ConcurrentSkipListMap<>();
    private final Map<String, StepRecord> undone = new HashMap<>();
    private final @Nullable String cancelReason;
    private @Nullable StepRecord compensation;
    private volatile @Nullable Outcome outcome;
    private boolean codeChanged;
    /** The time of the database clock at the last call of the store. A wait never ends before it. */
    private Instant lastRead;

    private int position;
    /** The failures of the run and the time when the last record was written that the code has read. */
    private int lastFailures;

    private Instant lastRecordedAt;
    private long totalBytes;

    FlowRecords(ActiveAttempt attempt, WorkflowStepStore store) {
        this.attempt = attempt;
        this.store = store;
        Records known = store.load(attempt.project(), attempt.id());
        this.cancelReason = known.cancelReason();
        this.lastRead = known.now();
        this.lastRecordedAt = attempt.dueAt();
        for (StepRecord one : known.steps()) {
            totalBytes += size(one.value());
            if (one.kind() == StepKind.UNDONE) undone.put(one.path(), one);
            else if (one.kind() == StepKind.COMPENSATE) compensation = one;
            else records.put(one.position(), one);
        }
        if (hasUndo() && (cancelReason != null || compensation != null)) attempt.ignoreCancel();
    }

    /** Returns whether a step was registered that can be undone. */
    boolean hasUndo() {
        return records.values().stream().anyMatch(one -> one.kind() == StepKind.UNDO);
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
        return lastRecordedAt;
    }

    /** Returns how often the attempt failed since the last record: the failures of the step under way. */
    int failuresSinceLastRecord() {
        return attempt.failures() - lastFailures;
    }

    /** Fails if the code has returned without the calls that are recorded. */
    void requireAllRead() {
        Map.Entry<Integer, StepRecord> next = records.ceilingEntry(position);
        if (next != null)
            throw changed("position %d is recorded as '%s', but the code has returned"
                    .formatted(next.getKey(), next.getValue().path()));
    }

    /** Reads the record at this position, if there is one, and moves on. */
    Optional<StepRecord> read(StepKind kind, String path) {
        requireNotEnded();
        Map.Entry<Integer, StepRecord> next = records.ceilingEntry(position);
        if (next != null) {
            StepRecord known = next.getValue();
            if (known.position() != position || !known.path().equals(path) || !matches(known.kind(), kind))
                throw changed("position %d is recorded as %s '%s', but the code asks for %s '%s'"
                        .formatted(next.getKey(), known.kind().text(), known.path(), kind.text(), path));
            moveBehind(known);
            return Optional.of(known);
        }
        if (!mayStart()) throw end(Outcome.snoozed(Duration.ZERO));
        requireBelowLimit(1);
        return Optional.empty();
    }

    /** Returns whether a step may start: the workflow does not stop, and its steps are not undone. */
    boolean mayStart() {
        return outcome == null && !attempt.isStopRequested() && cancelReason == null && compensation == null;
    }

    /** Fails if so many records from this position on are too many. */
    void requireBelowLimit(int count) {
        if (count > MAX_STEPS - position) throw tooMuch("%d steps and waits".formatted(MAX_STEPS));
    }

    /** Returns the record at a position that {@link #reserve} has reserved; null if there is none yet. */
    @Nullable
    StepRecord at(int reserved) {
        return records.get(reserved);
    }

    /** Fails if another record is at a position that {@link #reserve} has reserved. */
    void requireAt(int reserved, StepKind kind, String path) {
        StepRecord known = records.get(reserved);
        if (known != null && (known.kind() != kind || !known.path().equals(path)))
            throw changed("position %d is recorded as %s '%s', but the code asks for %s '%s'"
                    .formatted(reserved, known.kind().text(), known.path(), kind.text(), path));
    }

    /** Reserves the next positions for steps that are executed in parallel, and moves behind them. */
    int reserve(int count) {
        int first = position;
        position += count;
        return first;
    }

    /** Reads the records at the reserved positions from {@code first} on. */
    void readReserved(int first) {
        records.subMap(first, position).values().forEach(this::note);
    }

    private void moveBehind(StepRecord known) {
        position++;
        note(known);
    }

    private void note(StepRecord known) {
        lastFailures = Math.max(lastFailures, known.failures());
        if (known.recordedAt().isAfter(lastRecordedAt) || known.position() == 0) lastRecordedAt = known.recordedAt();
    }

    /** Returns whether the next record was written by code without this change. */
    boolean isOlderThan(String change) {
        requireNotEnded();
        StepRecord next = records.get(position);
        return next != null && !(next.kind() == StepKind.VERSION && next.path().equals(change));
    }

    private static boolean matches(StepKind recorded, StepKind asked) {
        return recorded == asked || (asked == StepKind.SIGNAL && recorded == StepKind.TIMEOUT);
    }

    void requireNotEnded() {
        Outcome ended = outcome;
        if (ended != null) throw end(ended);
    }

    /** Writes the record at this position, and moves on. */
    StepRecord write(NewStep step) {
        countBytes(step.value());
        return add(store(() -> store.record(holder(), step)).orElseThrow(() -> leaseLost(step.path())));
    }

    /**
     * Writes the record at this position in the transaction of a step, commits both, and moves on. If the connection
     * fails during the commit, it is unknown whether both are stored: the next execution finds the record or not.
     */
    StepRecord writeAndCommit(Connection transaction, NewStep step) throws SQLException {
        countBytes(step.value());
        return add(attempt.<StepRecord, SQLException>withoutInterrupt(() -> {
            StepRecord written = store.recordIn(transaction, holder(), step).orElseThrow(() -> leaseLost(step.path()));
            try {
                transaction.commit();
            } catch (SQLException failure) {
                String state = failure.getSQLState();
                if (state != null && !state.startsWith("08")) throw failure;
                throw end(Outcome.failed(failure));
            }
            return written;
        }));
    }

    /** Writes records at reserved positions. Several threads that write at the same time share a commit. */
    StepRecord writeReserved(NewStep step) {
        countBytes(step.value());
        StepRecord written = store(() -> sharedCommit.submit(step));
        records.put(written.position(), written);
        return written;
    }

    private List<StepRecord> writeAll(List<NewStep> steps) {
        List<StepRecord> written = store.recordAll(holder(), steps);
        if (written.size() < steps.size()) throw leaseLost(steps.get(0).path());
        return written;
    }

    private synchronized void countBytes(@Nullable Payload value) {
        totalBytes += size(value);
        if (totalBytes > MAX_TOTAL_BYTES) throw tooMuch("%d MiB of results".formatted(MAX_TOTAL_BYTES >> 20));
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
        int last = records.isEmpty() ? -1 : records.lastKey();
        for (StepRecord one : undone.values()) last = Math.max(last, one.position());
        if (compensation != null) last = Math.max(last, compensation.position());
        NewStep step = new NewStep(kind, last + 1, path, null, error, null);
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

    private <T> T store(ActiveAttempt.Write<T, RuntimeException> write) {
        try {
            return attempt.withoutInterrupt(write);
        } catch (RuntimeException unrecorded) {
            throw end(Outcome.failed(unrecorded));
        }
    }

    private StepRecord add(StepRecord written) {
        records.put(written.position(), written);
        moveBehind(written);
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
