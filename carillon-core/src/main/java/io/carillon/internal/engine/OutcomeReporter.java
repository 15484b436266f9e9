package io.carillon.internal.engine;

import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.BreakerChange;
import io.carillon.internal.store.run.LaneOutcomes;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.store.run.QueueHead;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts how the attempts of each lane with a breaker ended in the last minute and reports the counts to the database
 * every 5 s; sooner if half of the attempts fail, or if a breaker waits for the end of its probe. The database adds the
 * counts of all nodes and decides about breakers. This node logs the changes.
 */
final class OutcomeReporter implements Loop.Task {
    private static final Logger log = LoggerFactory.getLogger(OutcomeReporter.class);
    private final Loop loop = new Loop("outcomes", true, this);
    private static final long INTERVAL_NANOS = Duration.ofSeconds(5).toNanos();
    private static final long MIN_INTERVAL_NANOS = Duration.ofMillis(200).toNanos();
    private static final int MAX_LANES = 1_000;

    private final LaneStore lanes;
    private final Supplier<UUID> node;
    private final LoopReports reports;
    private final Map<Lane, OutcomeWindow> windows = new ConcurrentHashMap<>();
    private volatile QueueHead.Breakers breakers = QueueHead.Breakers.NONE;
    private volatile boolean urgent;

    OutcomeReporter(LaneStore lanes, Supplier<UUID> node, LoopReports reports) {
        this.lanes = lanes;
        this.node = node;
        this.reports = reports;
    }

    /**
     * Counts an ended attempt. Attempts that neither succeeded nor failed do not count. {@code success} says that the
     * attempt counts as a success, however it ended.
     */
    void ended(Lane lane, Transition transition, boolean success) {
        if (!breakers.exists(lane)) return;
        boolean succeeded = transition instanceof Transition.Complete || success;
        boolean failed = transition instanceof Transition.Retry || transition instanceof Transition.MarkDead;
        if (succeeded || failed) count(lane, !succeeded);
    }

    private void count(Lane lane, boolean failed) {
        boolean manyFailed =
                windows.computeIfAbsent(lane, l -> new OutcomeWindow()).count(failed, second());
        if (urgent || !(manyFailed || breakers.open().contains(lane))) return;
        urgent = true;
        loop.wake();
    }

    /**
     * Sets the breakers that a poll found. Earlier counts of a lane are discarded when its breaker opens or is removed.
     */
    void setBreakers(QueueHead.Breakers found) {
        QueueHead.Breakers before = breakers;
        if (found.equals(before)) return;
        // In this order: what a report counts in a lane that it sees here ended after the opening.
        windows.keySet()
                .removeIf(lane -> !found.exists(lane)
                        || (found.open().contains(lane) && !before.open().contains(lane)));
        breakers = found;
    }

    /** Returns the thread that repeats this task. */
    Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        report();
        long start = System.nanoTime();
        // An urgent report also waits briefly, so that a thousand failures make one report.
        if (loop.sleep(INTERVAL_NANOS)) loop.sleep(Math.max(0, MIN_INTERVAL_NANOS - (System.nanoTime() - start)));
    }

    /** Reports the counts to the database. */
    void report() {
        urgent = false;
        List<LaneOutcomes> outcomes = outcomes(second());
        if (outcomes.isEmpty()) return;
        List<BreakerChange> changes = lanes.reportOutcomes(node.get(), outcomes);
        outcomes.stream()
                .map(LaneOutcomes::lane)
                .filter(breakers.open()::contains)
                .forEach(windows::remove);
        changes.forEach(this::applyChange);
        if (!changes.isEmpty()) reports.onBreakersChanged();
    }

    /** Reports immediately if the counts are urgent. For callers that do not run this loop. */
    void reportIfUrgent() {
        if (urgent) report();
    }

    private void applyChange(BreakerChange change) {
        windows.remove(change.lane());
        if (change.until() == null)
            log.info(
                    "breaker closed queue={} project={}",
                    change.lane().queue(),
                    change.lane().project());
        else
            log.warn(
                    "breaker opened queue={} project={} probe={}",
                    change.lane().queue(),
                    change.lane().project(),
                    change.until());
    }

    private List<LaneOutcomes> outcomes(long second) {
        List<LaneOutcomes> outcomes = new ArrayList<>();
        Set<Lane> open = breakers.open();
        windows.forEach((lane, window) -> {
            LaneOutcomes outcome = window.outcomes(lane, second, open.contains(lane));
            if (outcome.succeeded() + outcome.failed() == 0) windows.remove(lane, window);
            else if (outcomes.size() < MAX_LANES) outcomes.add(outcome);
        });
        return outcomes;
    }

    private static long second() {
        return System.nanoTime() / 1_000_000_000L;
    }
}
