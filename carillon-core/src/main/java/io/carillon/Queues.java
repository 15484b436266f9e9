package io.carillon;

import io.carillon.run.Lane;
import io.carillon.store.LaneInfo;
import io.carillon.store.LaneStore;
import io.carillon.value.CarillonException;
import io.carillon.value.Names;
import java.util.List;

/** The queues of a project. */
public final class Queues {
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
        return lanes.pause(lane(queue), "library", null);
    }

    /** Lets it go on. False: it was not paused. */
    public boolean resume(String queue) {
        boolean resumed = lanes.resume(lane(queue));
        woken.run();
        return resumed;
    }

    /** Limits how much of it runs at a time. */
    @SuppressWarnings("DoNotCallSuggester") // a later version answers; callers may compile against it today
    public void limit(String queue, int running) {
        throw CarillonException.notYet(
                "A limit (here of queue '%s' to %d)".formatted(Names.check("queue", queue), running));
    }

    /** Queues with runs or settings; counts stop at 10,000. */
    public List<LaneInfo> list() {
        return lanes.list(project);
    }

    private Lane lane(String queue) {
        return new Lane(Names.check("queue", queue), project);
    }
}
