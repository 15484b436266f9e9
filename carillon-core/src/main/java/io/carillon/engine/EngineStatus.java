package io.carillon.engine;

import io.carillon.store.Wakeup;
import java.time.Duration;
import java.util.Map;

/**
 * How an engine fares: its loops, what wakes it, whether LISTEN is proven, how far the wall clock is off, what it holds (by queue), whether it leads the
 * planning, and what it did so far.
 */
public record EngineStatus(
        Map<String, LoopStatus> loops,
        Wakeup.Mode wakeup,
        boolean listening,
        Duration skew,
        Slots slots,
        Map<String, Long> held,
        boolean leading,
        Counts counts) {
    public EngineStatus {
        loops = Map.copyOf(loops);
        held = Map.copyOf(held);
    }

    /** LISTEN shall wake it and does not: it polls instead. */
    public boolean steppedDown() {
        return wakeup == Wakeup.Mode.NOTIFY && !listening;
    }

    /** One loop: its thread, its last round, and counts. */
    public record LoopStatus(boolean alive, boolean failing, long turns, long failures) {}

    /** How many runs execute now, and how many may. */
    public record Slots(int busy, int all) {}

    /** Since the start: recoveries (dead nodes cleared, their runs let go or quarantined), ticks planned, and looks for work with the time they took. */
    public record Counts(
            long deadNodes, long rescued, long quarantined, long ticksPlanned, long looks, Duration looking) {}
}
