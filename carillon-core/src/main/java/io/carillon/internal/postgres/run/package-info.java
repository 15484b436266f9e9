/**
 * Statements that enqueue, claim, list and change runs. Start at
 * {@link io.carillon.internal.postgres.run.RunRepository}.
 */
@NullMarked
package io.carillon.internal.postgres.run;

import org.jspecify.annotations.NullMarked;
