package io.carillon.spi;

import io.carillon.run.Origin;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.schedule.ScheduleId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A run as listeners, propagators and interceptors see it.
 *
 * @param attempt the number of the attempt; 0 while the run is being enqueued
 * @param failures how many earlier attempts failed
 * @param schedule the schedule of the run; null if it has none
 * @param plannedAt the planned instant; null unless the run is a tick or a backfill
 */
public record RunInfo(
        RunId id,
        String project,
        String queue,
        Target target,
        Priority priority,
        Origin origin,
        int attempt,
        int failures,
        @Nullable ScheduleId schedule,
        @Nullable Instant plannedAt) {}
