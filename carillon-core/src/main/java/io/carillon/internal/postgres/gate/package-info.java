/**
 * Statements for limits: overlap, rates, keys and the limits of lanes. Start at
 * {@link io.carillon.internal.postgres.gate.GateRepository}.
 */
@NullMarked
package io.carillon.internal.postgres.gate;

import org.jspecify.annotations.NullMarked;
