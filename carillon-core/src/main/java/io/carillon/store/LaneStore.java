package io.carillon.store;

import io.carillon.run.Lane;
import io.carillon.run.Limits;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Which lanes have work, and what people decided about them. */
public interface LaneStore {
    /** The lanes of the first ready runs from {@code low} on, with the earliest instant of each: cheap, asked often. */
    Look look(Instant low);

    /** Every lane with a claimable run, by skipping from lane to lane: asked rarely, and only under backlog. */
    default List<LaneDue> scan() {
        List<LaneDue> all = new ArrayList<>();
        LaneDue from = null;
        do {
            Part part = scan(from, 10_000);
            all.addAll(part.found());
            from = part.next();
        } while (from != null);
        return all;
    }

    /** A part of a scan: so many steps behind this one, or from the beginning. */
    Part scan(@Nullable LaneDue behind, int steps);

    /** What a part of a scan found, and behind what the next one begins; null: it was the last. */
    record Part(List<LaneDue> found, @Nullable LaneDue next) {}

    /** Claims from lanes with a limit, one node at a time from each: no more than the limit leaves. Lanes without one give nothing. */
    Claimed claim(ClaimRequest request);

    /** Tells what a node saw of its lanes in the last minute; opens and closes breakers by what all nodes told, and returns those that changed. */
    List<BreakerChange> report(UUID node, List<LaneLoad> loads);

    /** Limits a lane; what runs there already counts. */
    void limit(Lane lane, Limits limits);

    /** Gives a lane so many parts of what nodes claim while others have one. */
    void weigh(Lane lane, int weight);

    /** Stops claims from a lane from this moment on; false: it was paused already. */
    boolean pause(Lane lane, String by, @Nullable String reason);

    /** Lets claims go on, whether somebody paused the lane or its breaker did; false: nothing held it. */
    boolean resume(Lane lane);

    /** The lanes of a project that have runs or settings. */
    List<LaneInfo> list(String project);
}
