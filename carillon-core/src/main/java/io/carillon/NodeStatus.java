package io.carillon;

import java.time.Duration;
import java.util.Map;

/**
 * The status of the node of this process: its loops, the wake-up mode, whether LISTEN is proven to work, the offset of
 * the system clock from the database clock, its slots, the attempts it holds by queue, which nodes plan, whether it
 * holds the planning token, and counts since the start.
 */
public record NodeStatus(
        Map<String, LoopStatus> loops,
        Wakeup.Mode wakeup,
        boolean listening,
        Duration skew,
        SlotUsage slots,
        Map<String, Long> activeByQueue,
        NodeConfig.Planning planning,
        boolean leading,
        Counts counts) {
    public NodeStatus {
        loops = Map.copyOf(loops);
        activeByQueue = Map.copyOf(activeByQueue);
    }

    /** Returns whether the node polls because LISTEN does not work although the wake-up mode needs it. */
    public boolean fellBackToPolling() {
        return wakeup == Wakeup.Mode.NOTIFY && !listening;
    }

    /**
     * The status of one loop: whether its thread is alive, whether its last round failed, and how many rounds succeeded
     * and failed.
     */
    public record LoopStatus(boolean alive, boolean failing, long rounds, long failures) {}

    /** The number of slots in use, and of all slots. */
    public record SlotUsage(int busy, int total) {}

    /**
     * Counts since the start: dead nodes cleared, their runs released or quarantined, failed rescues, ticks planned,
     * and polls with the time they took.
     *
     * @param rescueFailures attempts to release a run that failed, and searches for runs of dead nodes that failed
     */
    public record Counts(
            long deadNodes,
            long rescued,
            long quarantined,
            long rescueFailures,
            long ticksPlanned,
            long polls,
            Duration pollTime) {}
}
