package io.carillon.store;

import io.carillon.run.Lane;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the database says about how things stand, in all projects. {@code missed}: instants of the last hour; {@code missing}: schedules that missed
 * several of them, by name; {@code stalled}: runs whose lease has ended and that nobody let go; {@code broken}: lanes whose breaker is not
 * closed; {@code borrowed}: how long the pool took to lend a connection; {@code jitAboveCost}: from which estimated cost on PostgreSQL compiles statements, null
 * where it never does.
 */
public record Vitals(
        Instant now,
        @Nullable Instant oldestDue,
        long missed,
        Map<String, Long> missing,
        long stalled,
        List<Lane> broken,
        @Nullable OldTransaction oldTransaction,
        Duration borrowed,
        @Nullable Double jitAboveCost) {
    public Vitals {
        missing = Map.copyOf(missing);
        broken = List.copyOf(broken);
    }

    /** How long the run that waits longest could have started already. */
    public Duration oldestDueAge() {
        return oldestDue == null || oldestDue.isAfter(now) ? Duration.ZERO : Duration.between(oldestDue, now);
    }

    /** The transaction that is open longest: no row that was deleted since can be cleaned away. */
    public record OldTransaction(long pid, String user, String application, String state, Duration age, String query) {}

    /**
     * The server beneath: its clock, how many connections are in use and possible, from which estimated cost on it compiles statements (null: never), and
     * which settings of the data source are missing that let a node leave a server that does not answer.
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

    /** Carillon's frequent statements are estimated at less than half of this, PostgreSQL's default of {@code jit_above_cost}. */
    public static final double JIT_FROM = 100_000;

    /** Whether PostgreSQL may compile frequent statements of Carillon, which then takes longer than their execution. */
    public static boolean compiles(@Nullable Double jitAboveCost) {
        return jitAboveCost != null && jitAboveCost < JIT_FROM;
    }

    /** A queue's due runs (counted up to a limit) and how long the first of them waits. */
    public record QueueVitals(String queue, long due, Duration oldestDue) {}

    /** A schedule: when it runs next, how late its next tick is already, and when it last succeeded. */
    public record ScheduleVitals(
            String name,
            boolean paused,
            @Nullable Instant nextAt,
            Duration lag,
            @Nullable Instant lastSuccess) {}

    /** Figures for dashboards: all queues with due runs, the first hundred schedules, and how many there are. */
    public record Figures(
            List<QueueVitals> queues, List<ScheduleVitals> schedules, long scheduleCount, long activeSchedules) {
        public Figures {
            queues = List.copyOf(queues);
            schedules = List.copyOf(schedules);
        }
    }
}
