package io.carillon.internal.schedule;

import io.carillon.schedule.OverlapPolicy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Decides what happens to the runs of one schedule that wait for its overlap gate. Has no side effects. Runs
 * that a user requested explicitly, such as a redrive, wait under every policy; only planned instants and
 * triggers are dropped.
 */
public final class OverlapDecider {
    private static final String SKIPPED = "overlap: an earlier run had not ended";
    private static final String REPLACED = "overlap: a newer run waits instead";

    private OverlapDecider() {}

    /**
     * A run that waits for the gate.
     *
     * @param undecided whether no earlier decision was made about the run
     * @param droppable whether the run is a planned instant or a trigger
     */
    public record WaitingRun(UUID run, boolean undecided, boolean droppable) {}

    /**
     * The decision about all waiting runs.
     *
     * @param dropped the dropped runs with the reason
     * @param cancelsEarlier whether the runs that have passed the gate are cancelled
     */
    public record Decision(List<UUID> passes, List<UUID> waits, Map<UUID, String> dropped, boolean cancelsEarlier) {
        public Decision {
            passes = List.copyOf(passes);
            waits = List.copyOf(waits);
            dropped = Map.copyOf(dropped);
        }
    }

    /**
     * Decides about the waiting runs.
     *
     * @param activeRuns how many runs have passed the gate and not ended
     * @param waitingRuns the waiting runs, in order
     */
    public static Decision decide(OverlapPolicy policy, long activeRuns, List<WaitingRun> waitingRuns) {
        if (policy == OverlapPolicy.ALLOW)
            return new Decision(waitingRuns.stream().map(WaitingRun::run).toList(), List.of(), Map.of(), false);
        Map<UUID, String> dropped = new LinkedHashMap<>();
        List<WaitingRun> left = new ArrayList<>(waitingRuns);
        // Only the newest run is kept, even if no run is active: the others would be cancelled as soon as they started.
        if (policy == OverlapPolicy.CANCEL_PREVIOUS) dropAllButNewest(left, dropped);
        List<UUID> passes = new ArrayList<>();
        if (activeRuns == 0 && !left.isEmpty()) passes.add(left.remove(0).run());
        if (policy == OverlapPolicy.QUEUE_ONE) dropAllButNewest(left, dropped);
        if (policy == OverlapPolicy.SKIP)
            left.removeIf(waiting ->
                    waiting.undecided() && waiting.droppable() && dropped.put(waiting.run(), SKIPPED) == null);
        boolean cancels = policy == OverlapPolicy.CANCEL_PREVIOUS
                && activeRuns > 0
                && left.stream().anyMatch(waiting -> waiting.undecided() && waiting.droppable());
        return new Decision(passes, left.stream().map(WaitingRun::run).toList(), dropped, cancels);
    }

    private static void dropAllButNewest(List<WaitingRun> left, Map<UUID, String> dropped) {
        List<WaitingRun> droppable = left.stream().filter(WaitingRun::droppable).toList();
        for (int i = 0; i < droppable.size() - 1; i++) {
            dropped.put(droppable.get(i).run(), REPLACED);
            left.remove(droppable.get(i));
        }
    }
}
