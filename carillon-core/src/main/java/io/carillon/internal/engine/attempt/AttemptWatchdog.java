package io.carillon.internal.engine.attempt;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.IsolationRule;
import io.carillon.internal.store.run.RunStore;
import io.carillon.run.RunId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches running attempts: interrupts them at their timeout, ends those that ignore the interrupt, and marks
 * long-running ones, so that claims skip their rows.
 */
public final class AttemptWatchdog implements Loop.Task {
    private static final Logger log = LoggerFactory.getLogger(AttemptWatchdog.class);
    private final Loop loop = new Loop("watchdog", true, this);
    private static final Duration INTERRUPT_GRACE = Duration.ofSeconds(5);
    private static final long ROUND_NANOS = 250_000_000L;

    private final RunStore runs;
    private final ActiveAttempts activeAttempts;
    private final AttemptRunner runner;
    private final Workers workers;
    private final Consumer<Lane> onSlowLane;

    /** {@code onSlowLane} receives each lane with a running attempt that is not short. */
    public AttemptWatchdog(
            RunStore runs,
            ActiveAttempts activeAttempts,
            AttemptRunner runner,
            Workers workers,
            Consumer<Lane> onSlowLane) {
        this.runs = runs;
        this.activeAttempts = activeAttempts;
        this.runner = runner;
        this.workers = workers;
        this.onSlowLane = onSlowLane;
    }

    /** Returns the thread that repeats this task. */
    public Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        for (ActiveAttempt activeAttempt : activeAttempts.all()) if (activeAttempt.isStarted()) watch(activeAttempt);
        markLongRunning();
        // A lane may have more capacity than at the last check.
        workers.startWorkerIfNeeded();
        loop.sleep(ROUND_NANOS);
    }

    private void watch(ActiveAttempt activeAttempt) {
        Duration since = activeAttempt.sinceStart();
        if (since.compareTo(ReadyQueue.SHORT_RUN_LIMIT) >= 0 && activeAttempt.isRunning())
            onSlowLane.accept(activeAttempt.attemptValue().lane());
        if (hasIgnoredInterrupt(activeAttempt)) {
            if (activeAttempt.abandon()) workers.releaseStuckSlot(activeAttempt);
            runner.forceEnd(activeAttempt);
        }
    }

    /** Interrupts an attempt at its timeout, and ends it if it ignored the interrupt. */
    public static void stopOverdue(ActiveAttempt activeAttempt, AttemptRunner runner) {
        if (hasIgnoredInterrupt(activeAttempt)) runner.forceEnd(activeAttempt);
    }

    private static boolean hasIgnoredInterrupt(ActiveAttempt activeAttempt) {
        if (activeAttempt.sinceStart().compareTo(activeAttempt.timeout()) > 0)
            activeAttempt.stop(ActiveAttempt.StopCause.TIMED_OUT, "timed out after " + activeAttempt.timeout());
        ActiveAttempt.StopCause stopCause = activeAttempt.stopCause();
        boolean forced =
                stopCause == ActiveAttempt.StopCause.TIMED_OUT || stopCause == ActiveAttempt.StopCause.CANCELLED;
        if (!forced || activeAttempt.sinceStop().compareTo(INTERRUPT_GRACE) < 0 || !activeAttempt.isRunning())
            return false;
        log.warn(
                "handler ignored the interrupt; attempt ended by the engine run={} attempt={}",
                activeAttempt.id(),
                activeAttempt.attempt());
        return true;
    }

    private void markLongRunning() {
        List<ActiveAttempt> due = activeAttempts.all().stream()
                .filter(activeAttempt -> activeAttempt.isStarted()
                        && !activeAttempt.isLongRunning()
                        && activeAttempt.sinceStart().compareTo(harmlessAfter(activeAttempt.attemptValue())) > 0)
                .toList();
        due.stream()
                .collect(Collectors.groupingBy(ActiveAttempt::owner))
                .forEach((UUID owner, List<ActiveAttempt> mine) -> {
                    Set<RunId> marked = runs.markLongRunning(
                            owner,
                            mine.stream().map(ActiveAttempt::attemptValue).toList());
                    mine.stream()
                            .filter(activeAttempt -> marked.contains(activeAttempt.id()))
                            .forEach(ActiveAttempt::markLongRunning);
                });
    }

    /**
     * Returns the run time after which the attempt counts as harmless and is marked as long-running. Until then it
     * keeps its isolation mark.
     */
    private static Duration harmlessAfter(Attempt attempt) {
        return IsolationRule.harmlessAfter(attempt.counts().nodeDeaths());
    }
}
