package io.carillon.schedule;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Decides what becomes of the runs of one schedule that wait before its gate. Pure. Runs that somebody asked for by hand, such as a redrive, wait in line
 * under every policy: only instants and triggers are ever dropped.
 */
public final class OverlapDecider {
    private static final String SKIPPED = "overlap: an earlier run had not ended";
    private static final String REPLACED = "overlap: a newer one waits instead";

    private OverlapDecider() {}

    /** One that waits. {@code fresh}: nothing was decided about it yet; {@code droppable}: it is an instant or a trigger. */
    public record Waiting(UUID run, boolean fresh, boolean droppable) {}

    /** Who passes, who goes on waiting, who is dropped and why, and whether those that are through shall be cancelled. */
    public record Decision(List<UUID> passes, List<UUID> waits, Map<UUID, String> dropped, boolean cancelsEarlier) {
        public Decision {
            passes = List.copyOf(passes);
            waits = List.copyOf(waits);
            dropped = Map.copyOf(dropped);
        }
    }

    /** {@code through}: how many have passed and not ended; {@code line}: who waits, in order. */
    public static Decision decide(Overlap policy, long through, List<Waiting> line) {
        if (policy == Overlap.ALLOW)
            return new Decision(line.stream().map(Waiting::run).toList(), List.of(), Map.of(), false);
        Map<UUID, String> dropped = new LinkedHashMap<>();
        List<Waiting> left = new ArrayList<>(line);
        // Only the newest counts, even where none is through: the others would be cancelled as soon as they started.
        if (policy == Overlap.CANCEL_PREVIOUS) onlyNewest(left, dropped);
        List<UUID> passes = new ArrayList<>();
        if (through == 0 && !left.isEmpty()) passes.add(left.remove(0).run());
        if (policy == Overlap.QUEUE_ONE) onlyNewest(left, dropped);
        if (policy == Overlap.SKIP)
            left.removeIf(one -> one.fresh() && one.droppable() && dropped.put(one.run(), SKIPPED) == null);
        boolean cancels = policy == Overlap.CANCEL_PREVIOUS
                && through > 0
                && left.stream().anyMatch(one -> one.fresh() && one.droppable());
        return new Decision(passes, left.stream().map(Waiting::run).toList(), dropped, cancels);
    }

    private static void onlyNewest(List<Waiting> left, Map<UUID, String> dropped) {
        List<Waiting> droppable = left.stream().filter(Waiting::droppable).toList();
        for (int i = 0; i < droppable.size() - 1; i++) {
            dropped.put(droppable.get(i).run(), REPLACED);
            left.remove(droppable.get(i));
        }
    }
}
