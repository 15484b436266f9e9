/**
 * The calendar: when a schedule is due. Start at {@link io.carillon.schedule.CronExpression}; {@link
 * io.carillon.schedule.Interval} counts from an anchor, {@link io.carillon.schedule.Preview} shows either to a person.
 *
 * <p>Pure values and arithmetic on {@code java.time}: no clock, no default zone, no default locale, nothing but the JDK.
 * Two steps, two classes: {@code WallTimes} finds the next matching time on the wall, {@code DstWalk} carries it over to
 * the instant at which a zone's clocks show it.
 */
@NullMarked
package io.carillon.schedule;

import org.jspecify.annotations.NullMarked;
