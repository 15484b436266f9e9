package io.carillon.internal.api.workflow;

import static java.util.Objects.requireNonNull;

import io.carillon.internal.api.workflow.FlowSteps.PendingStep;
import io.carillon.internal.store.run.WorkflowStepStore.StepRecord;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Steps that are executed in parallel, by the thread of the workflow and by threads of the node that are free. So the
 * steps of a workflow make progress also while those of others use all other threads.
 */
final class StepGroup {
    private final FlowSteps steps;
    private final FlowRecords records;
    private final int failures;
    private final boolean mustUndo;
    private final Deque<PendingStep> ready = new ArrayDeque<>();
    private final @Nullable Map<String, String> logContext = MDC.getCopyOfContextMap();
    private int running;
    private boolean failed;
    /** The try with the longest delay among those that failed and are not recorded. */
    private @Nullable Outcome unrecorded;

    private @Nullable Retry retry;

    /**
     * @param failuresBefore the failures of the run when the group began
     * @param mustUndo whether the workflow has steps to undo, so that it decides itself when it ends
     */
    StepGroup(FlowSteps steps, List<PendingStep> tasks, int failuresBefore, boolean mustUndo) {
        this.steps = steps;
        this.records = steps.records;
        this.failures = steps.attempt.failures() - failuresBefore;
        this.mustUndo = mustUndo;
        for (PendingStep task : tasks) {
            StepRecord known = records.at(task.position());
            if (known == null) ready.add(task);
            else if (known.error() != null) failed = true;
        }
    }

    /**
     * Executes what is not recorded. Returns when all steps are recorded, or when one has failed finally and the others
     * that were begun are recorded; otherwise ends the execution.
     */
    void run() {
        int helpers = Math.min(ready.size() - 1, steps.threads.max());
        // What is still queued when this group has ended must not keep it and its records in memory.
        AtomicReference<@Nullable StepGroup> open = new AtomicReference<>(this);
        Runnable help = () -> {
            StepGroup group = open.get();
            if (group != null) group.help();
        };
        for (int i = 0; i < helpers; i++) steps.threads.executor().execute(help);
        work();
        awaitHelpers();
        open.set(null);
        records.requireNotEnded();
        if (failed) return;
        if (unrecorded != null) throw steps.end(requireNonNull(retry), unrecorded, mustUndo);
        if (!ready.isEmpty()) throw records.end(Outcome.snoozed(Duration.ZERO));
    }

    private void help() {
        synchronized (this) {
            if (!mayContinue()) return;
        }
        if (logContext != null) MDC.setContextMap(logContext);
        steps.attempt.attachHelper();
        try {
            work();
        } finally {
            steps.attempt.detachHelper();
            // Clear an interrupt that was meant for the step, so that the next task of this thread does not see it.
            Thread.interrupted();
            MDC.clear();
        }
    }

    private void work() {
        for (PendingStep task = next(); task != null; task = next()) {
            FlowSteps.@Nullable Try end = null;
            try {
                end = execute(task);
            } catch (FlowRecords.Ended ended) {
                // Remembered by the records.
            } catch (Throwable failure) {
                records.end(Outcome.failed(failure));
            } finally {
                ended(task, end);
            }
        }
    }

    private FlowSteps.Try execute(PendingStep task) {
        if (task.undoable() && records.at(task.position() - 1) == null) records.writeReserved(task.undo());
        if (mustUndo && failures >= task.retry().attempts())
            return new FlowSteps.Try(records.writeReserved(task.failed(FlowSteps.stopped(failures))), null);
        return steps.tryOnce(task, failures, records::writeReserved);
    }

    private boolean mayContinue() {
        return !ready.isEmpty() && !failed && records.mayStart();
    }

    private synchronized @Nullable PendingStep next() {
        if (!mayContinue()) return null;
        running++;
        return ready.poll();
    }

    private synchronized void ended(PendingStep task, FlowSteps.@Nullable Try end) {
        running--;
        if (end != null) {
            StepRecord record = end.record();
            if (record != null) failed |= record.error() != null;
            else keep(requireNonNull(end.outcome()), task.retry());
        }
        notifyAll();
    }

    private void keep(Outcome outcome, Retry ofTask) {
        Outcome before = unrecorded;
        boolean longer = before instanceof Outcome.RetryAfter known
                && outcome instanceof Outcome.RetryAfter other
                && other.delay().compareTo(known.delay()) > 0;
        if (before != null && !longer) return;
        unrecorded = outcome;
        retry = ofTask;
    }

    /** Waits for the helpers that have begun a step. A stop interrupts them too. */
    private synchronized void awaitHelpers() {
        boolean interrupted = false;
        while (running > 0)
            try {
                wait();
            } catch (InterruptedException stopped) {
                interrupted = true;
            }
        if (interrupted) Thread.currentThread().interrupt();
    }
}
