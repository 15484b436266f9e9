/**
 * Decides how many runs of which lanes a node claims, and claims them. Start at
 * {@link io.carillon.internal.engine.claim.Claimer}.
 */
@NullMarked
package io.carillon.internal.engine.claim;

import org.jspecify.annotations.NullMarked;
