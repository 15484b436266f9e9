package io.carillon.bench.measure;

import java.time.Duration;
import java.time.Instant;

/** So many schedules of one period, spread evenly; after a lead and a warm-up the fires of a window count. */
public record FirePlan(int schedules, Duration period, Duration lead, Duration warm, Duration window) {
    public FirePlan {
        if (period.toNanos() % schedules != 0 || period.toNanos() / schedules % 1000 != 0)
            throw new IllegalArgumentException(
                    "%d schedules do not divide a period of %s into whole microseconds".formatted(schedules, period));
    }

    /** Between two fires. */
    public long stepNanos() {
        return period.toNanos() / schedules;
    }

    /** When schedule number {@code i} fires first. */
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
