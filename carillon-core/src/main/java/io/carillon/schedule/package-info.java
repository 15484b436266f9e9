/**
 * The timing of schedules: cron expressions, intervals and planning. Start at
 * {@link io.carillon.schedule.CronExpression}. {@link io.carillon.schedule.Interval} computes intervals, and
 * {@link io.carillon.schedule.Preview} shows the next runs to a person.
 *
 * <p>Contains values and arithmetic on {@code java.time}, and uses no clock, no default zone and no default locale.
 * Depends on the JDK and the basic types only. {@code WallTimes} finds the next matching wall time. {@code
 * WallTimeResolver} converts it to the instant at which the clock of a zone shows it.
 */
@NullMarked
package io.carillon.schedule;

import org.jspecify.annotations.NullMarked;
