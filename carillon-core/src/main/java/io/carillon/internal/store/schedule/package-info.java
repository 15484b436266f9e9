/**
 * The ports for schedules and for writing their ticks. Start at {@link io.carillon.internal.store.schedule.PlanStore}.
 */
@NullMarked
package io.carillon.internal.store.schedule;

import org.jspecify.annotations.NullMarked;
