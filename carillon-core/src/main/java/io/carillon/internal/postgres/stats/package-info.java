/**
 * Writes the statistics per minute, computes those per hour, and reads both. Start at
 * {@link io.carillon.internal.postgres.stats.StatsRepository}.
 */
@NullMarked
package io.carillon.internal.postgres.stats;

import org.jspecify.annotations.NullMarked;
