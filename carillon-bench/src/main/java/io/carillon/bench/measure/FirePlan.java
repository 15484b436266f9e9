package io.carillon.bench.measure;

import java.time.Duration;
import java.time.Instant;

/**
 * A number of schedules with the same period, spread evenly. After a lead and a warm-up, the fires of a window count.
 */
public record FirePlan(int schedules, Duration period, Duration lead, Duration warm, Duration window) {
    public FirePlan {
        if (period.toNanos() % schedules != 0 || period.toNanos() / schedules % 1000 != 0)
            throw new IllegalArgumentException(
                    "%d schedules must divide the period %s into whole microseconds".formatted(schedules, period));
    }

    /** Returns the time between two fires. */
    public long stepNanos() {
        return period.toNanos() / schedules;
    }

    /** Returns the first instant of schedule {@code i}. */
    public Instant phase(Instant first, int i) {
        return first.plusNanos(i * stepNanos());
    }

    public int warmFires() {
        return (int) (warm.toNanos() / stepNanos());
    }

    public int allFires() {
        return (int) (warm.plus(window).toNanos() / stepNanos());
    }

    public double perSecond() {
        return 1e9 / stepNanos();
    }
}
