package io.carillon.engine;

import java.time.Duration;
import java.util.Map;

/** How an engine fares: its loops, whether LISTEN is proven, how far the wall clock is off, and what it holds. */
public record EngineStatus(Map<String, LoopStatus> loops, boolean listening, Duration skew, int busy, int held) {
    public EngineStatus {
        loops = Map.copyOf(loops);
    }

    /** One loop: its thread, its last round, and counts. */
    public record LoopStatus(boolean alive, boolean failing, long turns, long failures) {}
}
