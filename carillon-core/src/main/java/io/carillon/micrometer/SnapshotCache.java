package io.carillon.micrometer;

import io.carillon.Carillon;
import io.carillon.DatabaseVitals;
import io.carillon.EngineStatus;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The statistics for all gauges, read together and cached for 10 seconds, because a scrape reads dozens of gauges. If
 * the statistics cannot be read, the last snapshot stays valid.
 */
final class SnapshotCache {
    private static final long CACHE_NANOS = Duration.ofSeconds(10).toNanos();
    private static final EngineStatus.Counts NO_COUNTS = new EngineStatus.Counts(0, 0, 0, 0, 0, Duration.ZERO);

    /**
     * The values that the gauges publish. A component is null before the first successful read, the status also if the
     * process has no node.
     */
    record Snapshot(
            @Nullable EngineStatus status,
            DatabaseVitals.@Nullable Figures figures,
            @Nullable DatabaseVitals databaseVitals,
            int issues) {
        EngineStatus.SlotUsage slots() {
            return status == null ? new EngineStatus.SlotUsage(0, 0) : status.slots();
        }

        EngineStatus.Counts counts() {
            return status == null ? NO_COUNTS : status.counts();
        }

        boolean leading() {
            return status != null && status.leading();
        }

        boolean listening() {
            return status != null && status.listening();
        }

        double schedules() {
            return figures == null ? 0 : figures.scheduleCount();
        }

        double activeSchedules() {
            return figures == null ? 0 : figures.activeSchedules();
        }

        double stalled() {
            return databaseVitals == null ? 0 : databaseVitals.stalled();
        }

        double oldestTransaction() {
            DatabaseVitals.OldTransaction old = databaseVitals == null ? null : databaseVitals.oldTransaction();
            return old == null ? 0 : seconds(old.age());
        }
    }

    private final Carillon carillon;
    private final MultiGauge runs;
    private final MultiGauge oldestDue;
    private final MultiGauge lag;
    private final MultiGauge nextRun;
    private final MultiGauge lastSuccess;
    private Snapshot last = new Snapshot(null, null, null, 0);
    private long readAt = System.nanoTime() - CACHE_NANOS;

    SnapshotCache(Carillon carillon, MeterRegistry registry) {
        this.carillon = carillon;
        this.runs = MultiGauge.builder("carillon.runs").register(registry);
        this.oldestDue = inSeconds("carillon.queue.oldest.due", registry);
        this.lag = inSeconds("carillon.schedule.lag", registry);
        this.nextRun = inSeconds("carillon.schedule.next.run.timestamp", registry);
        this.lastSuccess = inSeconds("carillon.schedule.last.success.timestamp", registry);
    }

    private static MultiGauge inSeconds(String name, MeterRegistry registry) {
        return MultiGauge.builder(name).baseUnit("seconds").register(registry);
    }

    synchronized Snapshot get() {
        if (System.nanoTime() - readAt < CACHE_NANOS) return last;
        readAt = System.nanoTime();
        try {
            last = new Snapshot(
                    carillon.status().orElse(null),
                    carillon.statistics(),
                    carillon.databaseVitals(),
                    carillon.health().issues().size());
            updateGauges(last);
        } catch (RuntimeException unreadable) {
            // The instance is closed or the database is unavailable. The health check reports this; the gauges keep
            // their last values.
        }
        return last;
    }

    private void updateGauges(Snapshot now) {
        DatabaseVitals.Figures figures = now.figures();
        if (figures == null) return;
        Map<String, Long> activeByQueue =
                now.status() == null ? Map.of() : now.status().activeByQueue();
        runs.register(
                Stream.concat(
                                figures.queues().stream()
                                        .map(queue -> row("queue", queue.queue(), "state", "due", queue.due())),
                                activeByQueue.entrySet().stream()
                                        .map(entry ->
                                                row("queue", entry.getKey(), "state", "running", entry.getValue())))
                        .toList(),
                true);
        oldestDue.register(
                figures.queues().stream()
                        .map(queue -> MultiGauge.Row.of(Tags.of("queue", queue.queue()), seconds(queue.oldestDue())))
                        .toList(),
                true);
        lag.register(schedules(figures, schedule -> Optional.of(seconds(schedule.lag()))), true);
        nextRun.register(schedules(figures, schedule -> epoch(schedule.nextAt())), true);
        lastSuccess.register(schedules(figures, schedule -> epoch(schedule.lastSuccess())), true);
    }

    private interface ScheduleValue {
        Optional<Double> from(DatabaseVitals.ScheduleVitals schedule);
    }

    private static List<MultiGauge.Row<?>> schedules(DatabaseVitals.Figures figures, ScheduleValue scheduleValue) {
        return figures.schedules().stream()
                .<MultiGauge.Row<?>>flatMap(schedule ->
                        scheduleValue
                                .from(schedule)
                                .map(value -> MultiGauge.Row.of(Tags.of("schedule", schedule.name()), value))
                                .stream())
                .toList();
    }

    private static MultiGauge.Row<?> row(String key, String value, String other, String otherValue, Number number) {
        return MultiGauge.Row.of(Tags.of(key, value, other, otherValue), number);
    }

    private static Optional<Double> epoch(@Nullable Instant at) {
        return at == null ? Optional.empty() : Optional.of(at.toEpochMilli() / 1000.0);
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }
}
