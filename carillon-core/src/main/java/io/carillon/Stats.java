package io.carillon;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How much work is waiting and how late it is, for dashboards: all queues with due runs and the first hundred schedules
 * of all projects.
 *
 * @param scheduleCount the number of all schedules
 * @param activeSchedules the number of schedules that are not paused
 * @param stalledRuns runs whose lease has ended or whose node is not alive, and that no node has released
 * @param oldestTransaction the age of the oldest open transaction that prevents vacuum from removing dead rows; zero if
 *     there is none
 */
public record Stats(
        List<QueueStats> queues,
        List<ScheduleStats> schedules,
        long scheduleCount,
        long activeSchedules,
        long stalledRuns,
        Duration oldestTransaction) {
    public Stats {
        queues = List.copyOf(queues);
        schedules = List.copyOf(schedules);
    }

    /** The number of due runs of a queue, counted up to a limit, and for how long the first of them has waited. */
    public record QueueStats(String queue, long due, Duration oldestDue) {}

    /**
     * A schedule.
     *
     * @param nextAt its next planned instant; null if it has none
     * @param lag how late its next tick is
     * @param lastSuccess null if no run has succeeded
     */
    public record ScheduleStats(
            String name,
            boolean paused,
            @Nullable Instant nextAt,
            Duration lag,
            @Nullable Instant lastSuccess) {}
}
