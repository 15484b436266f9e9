/**
 * Counts what starts and ends in this process, per minute, and writes the counts every few seconds. It decides nothing:
 * no loop depends on a count. Start at {@link io.carillon.internal.engine.stats.StatsRecorder}.
 */
@NullMarked
package io.carillon.internal.engine.stats;

import org.jspecify.annotations.NullMarked;
