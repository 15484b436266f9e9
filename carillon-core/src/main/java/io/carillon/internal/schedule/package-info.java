/**
 * Decides which ticks a schedule gets, which instants are missed and what overlaps. Start at {@link
 * io.carillon.internal.schedule.TickPlanner}. Depends on the values only; contains no SQL.
 */
@NullMarked
package io.carillon.internal.schedule;

import org.jspecify.annotations.NullMarked;
