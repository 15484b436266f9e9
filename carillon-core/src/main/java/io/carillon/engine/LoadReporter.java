package io.carillon.engine;

import io.carillon.run.Lane;
import io.carillon.run.Transition;
import io.carillon.store.BreakerChange;
import io.carillon.store.LaneLoad;
import io.carillon.store.LaneStore;
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
 * Counts how the attempts of each lane ended in the last minute, and tells the database now and then: at once where half of them fail, and where a breaker
 * waits for the end of its probe. The database adds up all nodes and decides; this node writes into its log what changed.
 */
final class LoadReporter extends Loop {
    private static final Logger log = LoggerFactory.getLogger(LoadReporter.class);
    private static final long EVERY_NANOS = Duration.ofSeconds(5).toNanos();
    private static final long SOONEST_NANOS = Duration.ofMillis(200).toNanos();
    private static final int MOST_LANES = 1_000;

    private final LaneStore lanes;
    private final Supplier<UUID> node;
    private final Runnable onChange;
    private final Map<Lane, LoadWindow> windows = new ConcurrentHashMap<>();
    private volatile Set<Lane> broken = Set.of();
    private volatile boolean urgent;

    LoadReporter(LaneStore lanes, Supplier<UUID> node, Runnable onChange) {
        super("load", true);
        this.lanes = lanes;
        this.node = node;
        this.onChange = onChange;
    }

    /** An attempt of this lane has ended; what neither succeeded nor failed does not count. */
    void ended(Lane lane, Transition transition) {
        boolean failed = transition instanceof Transition.Retry || transition instanceof Transition.Die;
        if (failed || transition instanceof Transition.Complete) count(lane, failed);
    }

    private void count(Lane lane, boolean failed) {
        boolean alarming = windows.computeIfAbsent(lane, l -> new LoadWindow()).count(failed, second());
        if (urgent || !(alarming || broken.contains(lane))) return;
        urgent = true;
        wake();
    }

    /** A look saw these lanes with a breaker that is not closed: what was counted before says nothing about what comes. */
    void seen(Set<Lane> open) {
        Set<Lane> before = broken;
        if (open.equals(before)) return;
        broken = open;
        open.stream().filter(lane -> !before.contains(lane)).forEach(windows::remove);
    }

    @Override
    void turn() throws InterruptedException {
        report();
        long start = System.nanoTime();
        // Whoever is in a hurry waits a little all the same: a thousand failures are one report.
        if (sleep(EVERY_NANOS)) sleep(Math.max(0, SOONEST_NANOS - (System.nanoTime() - start)));
    }

    /** Tells the database what was counted. */
    void report() {
        urgent = false;
        List<LaneLoad> loads = loads(second());
        if (loads.isEmpty()) return;
        List<BreakerChange> changes = lanes.report(node.get(), loads);
        loads.stream().map(LaneLoad::lane).filter(broken::contains).forEach(windows::remove);
        changes.forEach(this::told);
        if (!changes.isEmpty()) onChange.run();
    }

    /** For whoever has no loop: tells what cannot wait. */
    void reportIfUrgent() {
        if (urgent) report();
    }

    private void told(BreakerChange change) {
        windows.remove(change.lane());
        if (change.until() == null)
            log.info(
                    "breaker closed queue={} project={}",
                    change.lane().queue(),
                    change.lane().project());
        else
            log.warn(
                    "breaker opened, most attempts fail queue={} project={} probe={}",
                    change.lane().queue(),
                    change.lane().project(),
                    change.until());
    }

    private List<LaneLoad> loads(long second) {
        List<LaneLoad> loads = new ArrayList<>();
        windows.forEach((lane, window) -> {
            LaneLoad load = window.load(lane, second);
            if (load.well() + load.failed() == 0) windows.remove(lane, window);
            else if (loads.size() < MOST_LANES) loads.add(load);
        });
        return loads;
    }

    private static long second() {
        return System.nanoTime() / 1_000_000_000L;
    }
}
