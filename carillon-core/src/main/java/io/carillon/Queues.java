package io.carillon;

import io.carillon.run.Lane;
import io.carillon.run.Limits;
import io.carillon.store.LaneInfo;
import io.carillon.store.LaneStore;
import io.carillon.value.CarillonException;
import io.carillon.value.ErrorCode;
import io.carillon.value.Names;
import io.carillon.value.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The queues of a project. */
public final class Queues {
    private static final int MOST_WEIGHT = 100;

    private final LaneStore lanes;
    private final String project;
    private final Runnable woken;

    Queues(LaneStore lanes, String project, Runnable woken) {
        this.lanes = lanes;
        this.project = project;
        this.woken = woken;
    }

    /** No run of this queue starts from now on, on any node. False: it was paused already. */
    public boolean pause(String queue) {
        return pause(queue, "library", null);
    }

    /** The same, with who asked for it and why. */
    public boolean pause(String queue, String by, @Nullable String reason) {
        return lanes.pause(lane(queue), Text.clean(by, 200), reason == null ? null : Text.clean(reason, 1_000));
    }

    /** Lets it go on, whether somebody paused it or its breaker is open. False: neither. */
    public boolean resume(String queue) {
        boolean resumed = lanes.resume(lane(queue));
        woken.run();
        return resumed;
    }

    /** Limits how much of it runs at a time and how often one may start, on all nodes together; {@link Limits#none()} lifts the limits. */
    public void limit(String queue, Limits limits) {
        lanes.limit(lane(queue), limits);
        woken.run();
    }

    /**
     * Gives it so many parts of what nodes start while it and others have more to do than can be started; queues that nobody weighed have one part each. A
     * queue that has nothing to do leaves its parts to the others.
     */
    public void weigh(String queue, int weight) {
        if (weight < 1 || weight > MOST_WEIGHT)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "The weight %d of queue '%s' is outside 1..%d. To stop a queue, pause it."
                            .formatted(weight, queue, MOST_WEIGHT));
        lanes.weigh(lane(queue), weight);
        woken.run();
    }

    /** Queues with runs or settings; counts stop at 10,000. */
    public List<LaneInfo> list() {
        return lanes.list(project);
    }

    private Lane lane(String queue) {
        return new Lane(Names.check("queue", queue), project);
    }
}
