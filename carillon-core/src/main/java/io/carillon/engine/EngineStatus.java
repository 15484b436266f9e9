package io.carillon.engine;

import io.carillon.store.Wakeup;
import java.time.Duration;
import java.util.Map;

/** How an engine fares: its loops, what wakes it, whether LISTEN is proven, how far the wall clock is off, and what it holds. */
public record EngineStatus(
        Map<String, LoopStatus> loops, Wakeup.Mode wakeup, boolean listening, Duration skew, int busy, int held) {
    public EngineStatus {
        loops = Map.copyOf(loops);
    }

    /** LISTEN shall wake it and does not: it polls instead. */
    public boolean steppedDown() {
        return wakeup == Wakeup.Mode.NOTIFY && !listening;
    }

    /** One loop: its thread, its last round, and counts. */
    public record LoopStatus(boolean alive, boolean failing, long turns, long failures) {}
}
