package io.carillon;

import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.LaneInfo;
import io.carillon.internal.store.run.LaneStore;
import io.carillon.internal.value.Names;
import java.util.List;
import java.util.Optional;

/** The queues of a project: their pauses, limits, weights and breakers. */
public final class Queues {
    private static final int MAX_WEIGHT = 100;

    private final LaneStore lanes;
    private final String project;
    private final Runnable wakeNodes;

    Queues(LaneStore lanes, String project, Runnable wakeNodes) {
        this.lanes = lanes;
        this.project = project;
        this.wakeNodes = wakeNodes;
    }

    /**
     * Pauses a queue until it is resumed: no node starts further runs of it. Returns false if the queue
     * is already paused.
     */
    public boolean pause(String queue) {
        return pause(queue, PauseOptions.untilResumed());
    }

    /**
     * Like {@link #pause(String)}, but with options: the reason of the pause and its author.
     *
     * @throws CarillonException with {@link ErrorCode#INVALID_OPTION} if the options have an end
     */
    public boolean pause(String queue, PauseOptions options) {
        if (options.end() != null)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    ("A queue is paused until it is resumed (end was %s). Use PauseOptions.untilResumed() and call"
                                    + " resume.")
                            .formatted(options.end()));
        return lanes.pause(lane(queue), options.by(), options.reason());
    }

    /**
     * Resumes a paused queue and closes its breaker. Returns false if the queue was neither paused nor stopped
     * by its breaker.
     */
    public boolean resume(String queue) {
        boolean resumed = lanes.resume(lane(queue));
        wakeNodes.run();
        return resumed;
    }

    /**
     * Limits how many runs of a queue execute at the same time and how often a run may start, across all nodes. {@link
     * QueueLimits#none()} removes the limits.
     */
    public void limit(String queue, QueueLimits queueLimits) {
        lanes.limit(lane(queue), queueLimits);
        wakeNodes.run();
    }

    /**
     * Sets the weight of a queue. While several queues have more due runs than the nodes can start, each queue receives
     * a share of the starts in proportion to its weight. A queue without due runs leaves its share to the others.
     *
     * @param weight between 1 and 100. Default of every queue: 1.
     */
    public void weight(String queue, int weight) {
        if (weight < 1 || weight > MAX_WEIGHT)
            throw new CarillonException(
                    ErrorCode.INVALID_OPTION,
                    "weight %d of queue '%s' is not allowed: it must be between 1 and %d. To stop a queue, pause it."
                            .formatted(weight, queue, MAX_WEIGHT));
        lanes.setWeight(lane(queue), weight);
        wakeNodes.run();
    }

    /**
     * Sets whether a queue has a breaker, which holds the queue back while most of its attempts fail. Default: the
     * queue of a webhook endpoint has one; other queues have none, because a handler that fails for some of its inputs
     * must not stop its other runs. Removing an open breaker lets the runs start again.
     */
    public void breaker(String queue, boolean enabled) {
        lanes.setBreaker(lane(queue), enabled);
        wakeNodes.run();
    }

    /**
     * Returns the queues that have runs or settings, in the order of their names, at most 1,000. At most 10,000 runs of
     * all queues together are counted.
     */
    public List<QueueInfo> list() {
        return lanes.list(project).stream().map(Queues::toQueueInfo).toList();
    }

    /** Returns a queue; empty if it has neither runs nor settings. At most 10,000 runs are counted. */
    public Optional<QueueInfo> get(String queue) {
        return lanes.find(lane(queue)).map(Queues::toQueueInfo);
    }

    private static QueueInfo toQueueInfo(LaneInfo info) {
        LaneInfo.Breaker breaker = info.breaker();
        LaneInfo.Pause pause = info.pause();
        return new QueueInfo(
                info.lane().project(),
                info.lane().queue(),
                info.counts().waiting(),
                info.counts().running(),
                info.counts().waitingSince(),
                info.counts().complete(),
                info.limits(),
                info.weight(),
                breaker == null ? null : new QueueInfo.Breaker(breaker.state(), breaker.until()),
                pause == null ? null : new QueueInfo.Pause(pause.at(), pause.by(), pause.reason()));
    }

    private Lane lane(String queue) {
        return new Lane(Names.check("queue", queue), project);
    }
}
