package io.carillon.internal.store;

import io.carillon.internal.run.Lane;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The state of the database and of all projects, for health checks.
 *
 * @param oldestDue when the run that has waited longest was due; null if no run is due
 * @param missed the number of instants missed in the last hour
 * @param missedBySchedule schedules that missed several of them, by name
 * @param stalled runs whose lease has expired and that no node has released
 * @param openBreakers lanes whose breaker is open or half-open
 * @param oldTransaction the oldest open transaction; null if none is old
 * @param connectionWait how long the pool took to provide a connection
 * @param jitAboveCost the estimated cost above which PostgreSQL compiles statements; null if it never does
 */
public record DatabaseVitals(
        Instant now,
        @Nullable Instant oldestDue,
        long missed,
        Map<String, Long> missedBySchedule,
        long stalled,
        List<Lane> openBreakers,
        @Nullable OldTransaction oldTransaction,
        Duration connectionWait,
        @Nullable Double jitAboveCost) {
    public DatabaseVitals {
        missedBySchedule = Map.copyOf(missedBySchedule);
        openBreakers = List.copyOf(openBreakers);
    }

    /** Returns for how long the oldest due run could have started. */
    public Duration oldestDueAge() {
        return oldestDue == null || oldestDue.isAfter(now) ? Duration.ZERO : Duration.between(oldestDue, now);
    }

    /** The oldest open transaction. Vacuum cannot remove rows that were deleted after it began. */
    public record OldTransaction(long pid, String user, String application, String state, Duration age, String query) {}

    /**
     * The database server.
     *
     * @param connections the number of connections in use
     * @param jitAboveCost the estimated cost above which PostgreSQL compiles statements; null if it never does
     * @param missingTimeouts driver settings that a node needs to leave a server that does not answer, and that the
     *     URL of the data source lacks or sets to 0; settings that the pool adds to the URL do not count
     */
    public record Server(
            Instant now,
            int connections,
            int maxConnections,
            @Nullable Double jitAboveCost,
            List<String> missingTimeouts) {
        public Server {
            missingTimeouts = List.copyOf(missingTimeouts);
        }
    }

    /**
     * PostgreSQL's default of {@code jit_above_cost}. Frequent statements of Carillon have less than half of this
     * estimated cost.
     */
    public static final double JIT_SAFE_COST = 100_000;

    /**
     * Returns whether PostgreSQL may compile frequent statements of Carillon. The compilation takes longer
     * than their execution.
     */
    public static boolean mayCompileStatements(@Nullable Double jitAboveCost) {
        return jitAboveCost != null && jitAboveCost < JIT_SAFE_COST;
    }

    /** The number of due runs of a queue, counted up to a limit, and for how long the first of them has waited. */
    public record QueueVitals(String queue, long due, Duration oldestDue) {}

    /**
     * A schedule.
     *
     * @param nextAt its next instant; null if it has none
     * @param lag how late its next tick is
     * @param lastSuccess null if no run has succeeded
     */
    public record ScheduleVitals(
            String name,
            boolean paused,
            @Nullable Instant nextAt,
            Duration lag,
            @Nullable Instant lastSuccess) {}

    /** Values for dashboards: all queues with due runs, the first 500 schedules, and the number of schedules. */
    public record Figures(
            List<QueueVitals> queues, List<ScheduleVitals> schedules, long scheduleCount, long activeSchedules) {
        public Figures {
            queues = List.copyOf(queues);
            schedules = List.copyOf(schedules);
        }
    }
}
