package io.carillon.internal.engine;

import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.Transition;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.node.Hint;
import io.carillon.internal.store.run.GateName;
import io.carillon.internal.store.run.QueueHead;
import io.carillon.internal.store.run.RunWaitStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/** What each report of a loop starts. */
final class ReportDispatcher implements LoopReports {
    private final Engine engine;

    /** Dispatches the reports of an engine that is being created: its parts are read when a report arrives. */
    ReportDispatcher(Engine engine) {
        this.engine = engine;
    }

    @Override
    public void onEndsWritten() {
        engine.claimer.loop().wake();
    }

    @Override
    public void onAttemptEnded(Attempt attempt, Transition transition, boolean success) {
        engine.claimer.runEnded(attempt.lane());
        engine.outcomeReporter.ended(attempt.lane(), transition, success);
        if (transition instanceof Transition.Retry retry) retryScheduled(attempt, retry.delay());
        if (transition instanceof Transition.Snooze snooze) retryScheduled(attempt, snooze.delay());
        engine.waitResolver.transitionWritten(attempt, transition);
        String gate = attempt.gate();
        if (gate != null)
            engine.gatePromoter.runEnded(new GateName(attempt.lane().project(), gate));
    }

    private void retryScheduled(Attempt attempt, Duration delay) {
        Instant at = engine.node.clock().now().plus(delay);
        if (attempt.gate() != null) engine.gatePromoter.expectArrival(at);
        engine.claimer.hint(attempt.lane(), at);
    }

    @Override
    public void onOwnershipUncertain() {
        engine.claimer.reconcileSoon();
    }

    @Override
    public void onQueueRead(QueueHead head) {
        engine.outcomeReporter.setBreakers(head.breakers());
        engine.gatePromoter.setGatesExist(head.gatesExist());
        engine.waitResolver.setWaitsExist(head.waitsExist());
    }

    @Override
    public void onLaneDue(Lane lane, Instant readyAt) {
        engine.claimer.hint(lane, readyAt);
    }

    @Override
    public void onGatePassed(Lane lane) {
        engine.hintDispatcher.announce(lane, Instant.EPOCH);
    }

    @Override
    public void onWorkflowParked(RunWaitStore.RunKey workflow) {
        engine.waitResolver.waitStored(workflow);
    }

    @Override
    public void onWaitsResolved(RunWaitStore.Resolution resolution) {
        resolution.lanes().forEach(this::onGatePassed);
        resolution.gates().forEach(engine.gatePromoter::requestPromotion);
    }

    @Override
    public void onBreakersChanged() {
        engine.claimer.pollNow();
    }

    @Override
    public void onPlanned(TickPlan plan) {
        engine.statusReader.recordPlanned(plan.ticks().size());
    }

    @Override
    public void onEventSnapshot() {
        engine.relaysAndSources.wakeRelays();
    }

    @Override
    public void onEventRuns(List<EventDispatchStore.NewRuns> runs) {
        engine.hintDispatcher.announceEventRuns(runs);
    }

    @Override
    public void onRescueDue() {
        engine.rescuer.requestRescue();
    }

    @Override
    public void onRescued(boolean released) {
        engine.claimer.pollNow();
        engine.gatePromoter.checkNow();
        if (released) engine.wakeupController.wakeupSender().sendHint(new Hint.CheckAll());
    }

    @Override
    public void onDeclaredDead() {
        engine.stopAllAttempts();
    }

    @Override
    public void onSchemaChanged() {
        engine.schemaWatch.requestCheck();
    }
}
