package io.carillon.internal.engine;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.BreakerChange;
import io.carillon.internal.store.run.LaneOutcomes;
import io.carillon.internal.store.run.LaneStore;
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
 * Counts how the attempts of each lane ended in the last minute and reports the counts to the database every 5 s;
 * sooner if half of the attempts fail, or if a breaker waits for the end of its probe. The database adds the counts of
 * all nodes and decides about breakers. This node logs the changes.
 */
final class OutcomeReporter extends Loop {
    private static final Logger log = LoggerFactory.getLogger(OutcomeReporter.class);
    private static final long INTERVAL_NANOS = Duration.ofSeconds(5).toNanos();
    private static final long MIN_INTERVAL_NANOS = Duration.ofMillis(200).toNanos();
    private static final int MAX_LANES = 1_000;

    private final LaneStore lanes;
    private final Supplier<UUID> node;
    private final Runnable onChange;
    private final Map<Lane, OutcomeWindow> windows = new ConcurrentHashMap<>();
    private volatile Set<Lane> openBreakers = Set.of();
    private volatile boolean urgent;

    OutcomeReporter(LaneStore lanes, Supplier<UUID> node, Runnable onChange) {
        super("outcomes", true);
        this.lanes = lanes;
        this.node = node;
        this.onChange = onChange;
    }

    /** Counts an ended attempt. Attempts that neither succeeded nor failed do not count. */
    void ended(Lane lane, Transition transition) {
        boolean failed = transition instanceof Transition.Retry || transition instanceof Transition.MarkDead;
        if (failed || transition instanceof Transition.Complete) count(lane, failed);
    }

    private void count(Lane lane, boolean failed) {
        boolean manyFailed =
                windows.computeIfAbsent(lane, l -> new OutcomeWindow()).count(failed, second());
        if (urgent || !(manyFailed || openBreakers.contains(lane))) return;
        urgent = true;
        wake();
    }

    /**
     * Sets the lanes whose breaker a poll found open or half-open. Earlier counts of a lane are discarded when its
     * breaker opens.
     */
    void setOpenBreakers(Set<Lane> open) {
        Set<Lane> before = openBreakers;
        if (open.equals(before)) return;
        openBreakers = open;
        open.stream().filter(lane -> !before.contains(lane)).forEach(windows::remove);
    }

    @Override
    public void runRound() throws InterruptedException {
        report();
        long start = System.nanoTime();
        // An urgent report also waits briefly, so that a thousand failures make one report.
        if (sleep(INTERVAL_NANOS)) sleep(Math.max(0, MIN_INTERVAL_NANOS - (System.nanoTime() - start)));
    }

    /** Reports the counts to the database. */
    void report() {
        urgent = false;
        List<LaneOutcomes> outcomes = outcomes(second());
        if (outcomes.isEmpty()) return;
        List<BreakerChange> changes = lanes.reportOutcomes(node.get(), outcomes);
        outcomes.stream().map(LaneOutcomes::lane).filter(openBreakers::contains).forEach(windows::remove);
        changes.forEach(this::applyChange);
        if (!changes.isEmpty()) onChange.run();
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
        windows.forEach((lane, window) -> {
            LaneOutcomes outcome = window.outcomes(lane, second);
            if (outcome.succeeded() + outcome.failed() == 0) windows.remove(lane, window);
            else if (outcomes.size() < MAX_LANES) outcomes.add(outcome);
        });
        return outcomes;
    }

    private static long second() {
        return System.nanoTime() / 1_000_000_000L;
    }
}
