/**
 * The loops that plan, claim, execute and end runs. Start at {@link io.carillon.internal.engine.Engine}. Each class has
 * one task: PlanningLoop creates ticks, EventDispatcher creates the runs of events, Claimer claims runs, AttemptRunner
 * executes attempts, Completer writes results, GatePromoter lets runs pass their gates, WaitResolver releases runs that
 * wait for others, Heartbeat sends heartbeats and declares nodes without heartbeats dead, Rescuer releases the runs of
 * dead nodes, AttemptWatchdog enforces timeouts. Depends on the store ports and the values; contains no SQL and no
 * HTTP.
 */
@NullMarked
package io.carillon.internal.engine;

import org.jspecify.annotations.NullMarked;
