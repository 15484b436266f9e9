package io.carillon.store;

import io.carillon.run.Lane;
import io.carillon.run.Priority;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

/** A class of a lane and the earliest instant at which it has a run of this handler to claim. */
public record LaneDue(Lane lane, Priority priority, String handler, Instant readyAt) {
    /** Those that are ready first come first. */
    public static List<LaneDue> inOrder(List<LaneDue> found) {
        return found.stream().sorted(Comparator.comparing(LaneDue::readyAt)).toList();
    }
}
