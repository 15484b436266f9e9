/**
 * Creates and drops the daily partitions of the history. Start at
 * {@link io.carillon.internal.postgres.partition.Partitions}.
 */
@NullMarked
package io.carillon.internal.postgres.partition;

import org.jspecify.annotations.NullMarked;
