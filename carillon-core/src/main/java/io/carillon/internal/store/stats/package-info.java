/**
 * The port for the statistics per minute, with its rows. Start at {@link io.carillon.internal.store.stats.StatsStore}.
 */
@NullMarked
package io.carillon.internal.store.stats;

import org.jspecify.annotations.NullMarked;
