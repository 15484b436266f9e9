/**
 * Runs, handlers and outcomes. Start at {@link io.carillon.run.Handler} and {@link io.carillon.run.Enqueue}, then read
 * {@link io.carillon.run.Outcome}; {@link io.carillon.run.Run} is a stored run. Contains values without a clock, a
 * database or threads. Depends on the JDK, the errors and the basic types only.
 */
@NullMarked
package io.carillon.run;

import org.jspecify.annotations.NullMarked;
