package io.carillon.internal.engine;

import io.carillon.internal.engine.claim.Claimer;
import io.carillon.internal.engine.node.Heartbeat;
import io.carillon.internal.engine.node.Node;
import io.carillon.internal.engine.wakeup.WakeupController;
import io.carillon.internal.run.Gate;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.NewRun;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.node.Hint;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.RunWaitStore;
import io.carillon.run.Enqueue;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Passes on what became ready: what this process committed, to the loops of this node immediately and to other nodes by
 * a hint; and the hints of other nodes, to the loops of this one.
 */
final class HintDispatcher {
    /** With more keys than this, all gates are checked instead of those of the keys. */
    private static final int MAX_GATE_HINTS = 1_000;

    /** The loops that create runs. */
    record RunCreators(PlanningLoop planning, EventDispatcher eventDispatcher) {
        void wake() {
            planning.planNow();
            eventDispatcher.loop().wake();
        }
    }

    /** The loops that release parked runs. */
    record Releases(GatePromoter gatePromoter, WaitResolver waitResolver) {}

    private final Node node;
    private final Claimer claimer;
    private final GatePromoter gatePromoter;
    private final WaitResolver waitResolver;
    private final RunCreators runCreators;
    private final Heartbeat heartbeat;
    private final WakeupController wakeupController;

    HintDispatcher(
            Node node,
            Claimer claimer,
            Releases releases,
            RunCreators runCreators,
            Heartbeat heartbeat,
            WakeupController wakeupController) {
        this.node = node;
        this.claimer = claimer;
        this.gatePromoter = releases.gatePromoter();
        this.waitResolver = releases.waitResolver();
        this.runCreators = runCreators;
        this.heartbeat = heartbeat;
        this.wakeupController = wakeupController;
    }

    /** Announces a run that this process has just committed. */
    void announce(NewRun run) {
        if (run.awaits()) {
            waitResolver.waitStored(new RunWaitStore.RunKey(run.lane().project(), run.id()));
            return;
        }
        Instant readyAt = readyAt(run.due());
        Gate gate = run.gate();
        if (gate == null) {
            announce(run.lane(), readyAt);
            return;
        }
        gatePromoter.requestPromotion(new GateName(run.lane().project(), gate.name()));
        gatePromoter.expectArrival(readyAt);
    }

    /** Announces that a lane has a run that is ready at this instant. */
    void announce(Lane lane, Instant readyAt) {
        claimer.hint(lane, readyAt);
        wakeupController.wakeupSender().announceWork(lane, readyAt);
    }

    /** Announces the runs that subscriptions got for published events. */
    void announceEventRuns(List<EventDispatchStore.NewRuns> runs) {
        Set<Lane> lanes = new HashSet<>();
        Set<GateName> gates = new HashSet<>();
        for (EventDispatchStore.NewRuns each : runs) {
            String gate = each.gate();
            if (gate == null) lanes.add(new Lane(each.queue(), each.project()));
            else gates.add(new GateName(each.project(), gate));
        }
        lanes.forEach(lane -> announce(lane, Instant.EPOCH));
        if (gates.size() > MAX_GATE_HINTS) gatePromoter.checkNow();
        else gates.forEach(gatePromoter::requestPromotion);
    }

    private Instant readyAt(Enqueue.Due due) {
        if (due instanceof Enqueue.Due.At at) return at.instant();
        Duration delay = ((Enqueue.Due.After) due).delay();
        return delay.isZero() ? Instant.EPOCH : node.clock().now().plus(delay);
    }

    /** Notifies all nodes, including this one, that schedules changed or runs became claimable. */
    void announceChanges() {
        runCreators.wake();
        claimer.pollNow();
        gatePromoter.checkNow();
        wakeupController.wakeupSender().sendHint(new Hint.CheckAll());
    }

    void handleHint(Hint hint) {
        if (hint instanceof Hint.Work work) handleWork(work);
        else if (hint instanceof Hint.GateWaiting gateWaiting) gatePromoter.requestPromotion(gateWaiting.gate());
        else if (hint instanceof Hint.RunWaiting waiting) {
            if (node.clusterSize().isSelected(waiting.randomNumber()))
                waitResolver.waitStored(new RunWaitStore.RunKey(waiting.project(), waiting.run()));
        } else if (hint instanceof Hint.Cancel) heartbeat.loop().wake();
        else if (hint instanceof Hint.EventsPublished published) {
            if (node.clusterSize().isSelected(published.randomNumber()))
                runCreators.eventDispatcher().loop().wake();
        } else if (hint instanceof Hint.CheckAll) {
            runCreators.wake();
            heartbeat.loop().wake();
            gatePromoter.checkNow();
            claimer.pollNow();
        }
    }

    private void handleWork(Hint.Work work) {
        if (!node.clusterSize().isSelected(work.randomNumber())) return;
        claimer.reportBacklogIfFull(work.lane());
        // This node has already acted on its own hints.
        if (!wakeupController.isOwn(work)) claimer.hint(work.lane(), work.readyAt());
    }
}
