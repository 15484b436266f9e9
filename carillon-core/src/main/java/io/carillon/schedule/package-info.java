/**
 * Schedules: their timing, options and policies. Start at {@link io.carillon.schedule.When}, then read {@link
 * io.carillon.schedule.ScheduleOptions}; {@link io.carillon.schedule.Schedule} is a stored schedule, and {@link
 * io.carillon.schedule.LedgerEntry} says what became of its instants. {@link io.carillon.schedule.CronExpression} and
 * {@link io.carillon.schedule.Interval} compute instants, and {@link io.carillon.schedule.Preview} shows them.
 *
 * <p>Contains values and arithmetic on {@code java.time}, and uses no clock, no default zone and no default locale.
 * {@code WallTimes} finds the next matching wall time. {@code WallTimeResolver} converts it to the instant at which the
 * clock of a zone shows it.
 */
@NullMarked
package io.carillon.schedule;

import org.jspecify.annotations.NullMarked;
