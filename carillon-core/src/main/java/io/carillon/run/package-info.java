/**
 * What a run is, what a handler may say of it and what follows from that. Pure values and decisions: no clock, no database, no threads.
 * Start at {@link io.carillon.run.Attempt}, then {@link io.carillon.run.Outcome} and {@link io.carillon.run.Decider}.
 */
@NullMarked
package io.carillon.run;

import org.jspecify.annotations.NullMarked;
