package io.carillon.internal.engine.listener;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Lane;
import io.carillon.internal.run.Transition;
import io.carillon.internal.schedule.TickPlan;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.run.QueueHead;
import io.carillon.internal.store.run.RunWaitStore;
import java.time.Instant;
import java.util.List;

/**
 * What the loops of a node report to each other. Each report is a hint: if it is lost, a poll, a scan or a
 * reconciliation finds the same work later. The methods return quickly and do not use the database.
 */
public interface LoopReports {
    /** Ignores all reports. */
    LoopReports NONE = new LoopReports() {};

    /** A group of ends was written, so slots and claim capacity may be free again. */
    default void onEndsWritten() {}

    /** The end of an attempt was written. {@code success} says that a breaker counts it as a success in any case. */
    default void onAttemptEnded(Attempt attempt, Transition transition, boolean success) {}

    /** This node may own runs that it does not hold: a claim was not answered, or a hand-back skipped rows. */
    default void onOwnershipUncertain() {}

    /** A poll was read. */
    default void onQueueRead(QueueHead head) {}

    /** A lane has a run that is ready at this instant, as this node alone knows. */
    default void onLaneDue(Lane lane, Instant readyAt) {}

    /** A gate let runs of this lane pass. */
    default void onGatePassed(Lane lane) {}

    /** A workflow was released that waits for a signal or a run. The answer may have come before. */
    default void onWorkflowParked(RunWaitStore.RunKey workflow) {}

    /** Runs no longer wait for other runs: they are ready, or have arrived at a gate. */
    default void onWaitsResolved(RunWaitStore.Resolution resolution) {}

    /** A breaker opened or closed. */
    default void onBreakersChanged() {}

    /** A plan was written. */
    default void onPlanned(TickPlan plan) {}

    /** A snapshot of the ended transactions was stored, so events have a position. */
    default void onEventSnapshot() {}

    /** Subscriptions got runs for published events. */
    default void onEventRuns(List<EventDispatchStore.NewRuns> runs) {}

    /** Runs of dead nodes may have to be released. */
    default void onRescueDue() {}

    /** The runs of dead nodes were looked for; {@code released} says whether some were released. */
    default void onRescued(boolean released) {}

    /** Other nodes declared this one dead. It continues with a new id after this call. */
    default void onDeclaredDead() {}

    /** A newer version has changed the schema. */
    default void onSchemaChanged() {}
}
