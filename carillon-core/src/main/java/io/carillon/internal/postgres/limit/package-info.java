/**
 * Statements for limits: overlap, rates, keys and the limits of lanes. Start at
 * {@link io.carillon.internal.postgres.limit.GateRepository}.
 */
@NullMarked
package io.carillon.internal.postgres.limit;

import org.jspecify.annotations.NullMarked;
