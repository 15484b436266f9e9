/**
 * Rules about runs without any state: what follows an outcome, which errors are retried, how headers are read. Start
 * at {@link io.carillon.internal.run.OutcomeDecider}.
 */
@NullMarked
package io.carillon.internal.run;

import org.jspecify.annotations.NullMarked;
