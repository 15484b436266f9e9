package io.carillon.internal.store.run;

import io.carillon.internal.run.Lane;
import io.carillon.run.Priority;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/** The earliest instant at which a priority of a lane has a run of this handler to claim. */
public record LaneDue(Lane lane, Priority priority, String handler, Instant readyAt) {
    /** Returns the entries ordered by ready time. */
    public static List<LaneDue> sortedByReadyAt(List<LaneDue> found) {
        return found.stream().sorted(Comparator.comparing(LaneDue::readyAt)).toList();
    }
}
