package io.carillon.internal.engine;

import io.carillon.NodeConfig;
import io.carillon.NodeStatus;
import io.carillon.internal.engine.attempt.Workers;
import io.carillon.internal.engine.claim.Claimer;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.engine.node.Rescuer;
import io.carillon.internal.engine.wakeup.WakeupController;
import io.carillon.internal.store.node.RescueResult;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads the status of a node: its loops, its slots, its active attempts, and counts since its start. */
final class NodeStatusReader {
    private final Node node;
    private final Workers workers;
    private final int slots;
    private final WakeupController wakeupController;
    private final Claimer claimer;
    private final Rescuer rescuer;
    private final PlanningLoop planning;
    private final LongAdder ticksPlanned = new LongAdder();

    NodeStatusReader(
            Node node,
            Workers workers,
            int slots,
            WakeupController wakeupController,
            Claimer claimer,
            Rescuer rescuer,
            PlanningLoop planning) {
        this.node = node;
        this.workers = workers;
        this.slots = slots;
        this.wakeupController = wakeupController;
        this.claimer = claimer;
        this.rescuer = rescuer;
        this.planning = planning;
    }

    /** Adds ticks that this node has planned to the counts. */
    void recordPlanned(int ticks) {
        ticksPlanned.add(ticks);
    }

    NodeStatus read(Stream<Loop> loops) {
        Map<String, NodeStatus.LoopStatus> statusByLoop = loops.collect(Collectors.toMap(
                Loop::name,
                loop -> new NodeStatus.LoopStatus(loop.isAlive(), loop.isFailing(), loop.rounds(), loop.failures())));
        return new NodeStatus(
                statusByLoop,
                wakeupController.wakeup().mode(),
                wakeupController.isListening(),
                node.clock().skew(),
                new NodeStatus.SlotUsage(workers.busySlots(), slots),
                node.activeAttempts().all().stream()
                        .collect(Collectors.groupingBy(
                                activeAttempt ->
                                        activeAttempt.attemptValue().lane().queue(),
                                Collectors.counting())),
                planning.isLeaderOnly() ? NodeConfig.Planning.LEADER : NodeConfig.Planning.EVERY_NODE,
                planning.isLeading(),
                counts());
    }

    private NodeStatus.Counts counts() {
        RescueResult rescued = rescuer.total();
        return new NodeStatus.Counts(
                rescued.nodes(),
                rescued.released(),
                rescued.quarantined(),
                rescued.failures(),
                ticksPlanned.sum(),
                claimer.polls(),
                claimer.pollTime());
    }
}
