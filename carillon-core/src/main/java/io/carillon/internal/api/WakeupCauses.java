package io.carillon.internal.api;

import io.carillon.internal.run.Gate;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.run.Enqueue;
import io.carillon.run.RunId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Selects the runs of a call that nodes must be told about, one per cause. */
public final class WakeupCauses {
    private record Cause(
            Lane lane,
            Enqueue.Due due,
            @Nullable Gate gate,
            @Nullable RunId waiting) {}

    private WakeupCauses() {}

    /**
     * Returns one run for each lane, due time and gate, and all runs that wait for others. The nodes are woken for each
     * of these.
     */
    public static List<NewRun> different(List<NewRun> runs) {
        Map<Cause, NewRun> different = new LinkedHashMap<>();
        for (NewRun run : runs)
            different.putIfAbsent(new Cause(run.lane(), run.due(), run.gate(), run.awaits() ? run.id() : null), run);
        return List.copyOf(different.values());
    }
}
