package io.carillon.micrometer;

import io.carillon.Carillon;
import io.carillon.NodeStatus;
import io.carillon.Stats;
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
    private static final NodeStatus.Counts NO_COUNTS = new NodeStatus.Counts(0, 0, 0, 0, 0, 0, Duration.ZERO);

    /**
     * The values that the gauges publish. A component is null before the first successful read, the status also if the
     * process has no node.
     */
    record Snapshot(@Nullable NodeStatus status, @Nullable Stats stats, int issues) {
        NodeStatus.SlotUsage slots() {
            return status == null ? new NodeStatus.SlotUsage(0, 0) : status.slots();
        }

        NodeStatus.Counts counts() {
            return status == null ? NO_COUNTS : status.counts();
        }

        boolean leading() {
            return status != null && status.leading();
        }

        boolean listening() {
            return status != null && status.listening();
        }

        double schedules() {
            return stats == null ? 0 : stats.scheduleCount();
        }

        double activeSchedules() {
            return stats == null ? 0 : stats.activeSchedules();
        }

        double stalled() {
            return stats == null ? 0 : stats.stalledRuns();
        }

        double oldestTransaction() {
            return stats == null ? 0 : seconds(stats.oldestTransaction());
        }
    }

    private final Carillon carillon;
    private final MultiGauge runs;
    private final MultiGauge oldestDue;
    private final MultiGauge lag;
    private final MultiGauge nextRun;
    private final MultiGauge lastSuccess;
    private Snapshot last = new Snapshot(null, null, 0);
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
                    carillon.stats(),
                    carillon.health().issues().size());
            updateGauges(last);
        } catch (RuntimeException unreadable) {
            // The instance is closed or the database is unavailable. The health check reports this; the gauges keep
            // their last values.
        }
        return last;
    }

    private void updateGauges(Snapshot now) {
        Stats stats = now.stats();
        if (stats == null) return;
        Map<String, Long> activeByQueue =
                now.status() == null ? Map.of() : now.status().activeByQueue();
        runs.register(
                Stream.concat(
                                stats.queues().stream()
                                        .map(queue -> row("queue", queue.queue(), "state", "due", queue.due())),
                                activeByQueue.entrySet().stream()
                                        .map(entry ->
                                                row("queue", entry.getKey(), "state", "running", entry.getValue())))
                        .toList(),
                true);
        oldestDue.register(
                stats.queues().stream()
                        .map(queue -> MultiGauge.Row.of(Tags.of("queue", queue.queue()), seconds(queue.oldestDue())))
                        .toList(),
                true);
        lag.register(schedules(stats, schedule -> Optional.of(seconds(schedule.lag()))), true);
        nextRun.register(schedules(stats, schedule -> epoch(schedule.nextAt())), true);
        lastSuccess.register(schedules(stats, schedule -> epoch(schedule.lastSuccess())), true);
    }

    private interface ScheduleValue {
        Optional<Double> from(Stats.ScheduleStats schedule);
    }

    private static List<MultiGauge.Row<?>> schedules(Stats stats, ScheduleValue scheduleValue) {
        return stats.schedules().stream()
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
