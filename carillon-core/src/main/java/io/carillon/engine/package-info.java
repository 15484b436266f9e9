/**
 * The loops that move runs forward. Start at {@link io.carillon.engine.Engine}. Knows ports, never SQL or HTTP. Each class is one loop with one verb:
 * PlanningLoop plans, Claimer claims, AttemptRunner runs, Completer completes, Heart beats and buries, Rescuer sweeps up after the dead, Warden watches deadlines.
 */
@NullMarked
package io.carillon.engine;

import org.jspecify.annotations.NullMarked;
