/**
 * Executes claimed runs: from the queue of a node through its workers and handlers to the written result. Start at
 * {@link io.carillon.internal.engine.attempt.AttemptRunner}.
 */
@NullMarked
package io.carillon.internal.engine.attempt;

import org.jspecify.annotations.NullMarked;
