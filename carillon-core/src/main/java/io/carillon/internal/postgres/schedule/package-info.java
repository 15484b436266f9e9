/**
 * Statements for schedules, their ticks and their ledger. Start at
 * {@link io.carillon.internal.postgres.schedule.PlanRepository}.
 */
@NullMarked
package io.carillon.internal.postgres.schedule;

import org.jspecify.annotations.NullMarked;
