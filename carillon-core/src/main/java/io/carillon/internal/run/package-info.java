/**
 * Runs as the engine and the storage see them ({@link io.carillon.internal.run.Attempt}, {@link
 * io.carillon.internal.run.Lane}, {@link io.carillon.internal.run.Gate}), and rules without any state: what follows an
 * outcome, which errors are retried, how headers are read. Start at {@link io.carillon.internal.run.OutcomeDecider}.
 */
@NullMarked
package io.carillon.internal.run;

import org.jspecify.annotations.NullMarked;
