/**
 * Runs, handlers and outcomes. Start at {@link io.carillon.run.Handler}, then read {@link io.carillon.run.Outcome}.
 * Contains values and decisions without a clock, a database or threads; depends on the JDK and the basic types only.
 */
@NullMarked
package io.carillon.run;

import org.jspecify.annotations.NullMarked;
