/**
 * Statements that end attempts, and requests to cancel them. Start at
 * {@link io.carillon.internal.postgres.attempt.AttemptEndings}.
 */
@NullMarked
package io.carillon.internal.postgres.attempt;

import org.jspecify.annotations.NullMarked;
