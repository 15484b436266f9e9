package io.carillon.micrometer;

import io.carillon.Carillon;
import io.carillon.engine.EngineStatus;
import io.carillon.store.Vitals;
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

/** One look at everything for all gauges together, kept for ten seconds: a scrape reads dozens of them. While nothing can be read, the last look stands. */
final class Snapshots {
    private static final long KEPT_NANOS = Duration.ofSeconds(10).toNanos();
    private static final EngineStatus.Counts NOTHING = new EngineStatus.Counts(0, 0, 0, 0, 0, Duration.ZERO);

    /** What gauges read. */
    record Snapshot(
            @Nullable EngineStatus status,
            Vitals.@Nullable Figures figures,
            @Nullable Vitals vitals,
            int issues) {
        EngineStatus.Slots slots() {
            return status == null ? new EngineStatus.Slots(0, 0) : status.slots();
        }

        EngineStatus.Counts counts() {
            return status == null ? NOTHING : status.counts();
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
            return vitals == null ? 0 : vitals.stalled();
        }

        double oldestTransaction() {
            Vitals.OldTransaction old = vitals == null ? null : vitals.oldTransaction();
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
    private long readAt = System.nanoTime() - KEPT_NANOS;

    Snapshots(Carillon carillon, MeterRegistry registry) {
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
        if (System.nanoTime() - readAt < KEPT_NANOS) return last;
        readAt = System.nanoTime();
        try {
            last = new Snapshot(
                    carillon.status().orElse(null),
                    carillon.figures(),
                    carillon.vitals(),
                    carillon.health().issues().size());
            register(last);
        } catch (RuntimeException unreadable) {
            // Closed, or the database is away: health says so, and a gap in a curve says no more.
        }
        return last;
    }

    private void register(Snapshot now) {
        Vitals.Figures figures = now.figures();
        if (figures == null) return;
        Map<String, Long> held = now.status() == null ? Map.of() : now.status().held();
        runs.register(
                Stream.concat(
                                figures.queues().stream()
                                        .map(queue -> row("queue", queue.queue(), "state", "due", queue.due())),
                                held.entrySet().stream()
                                        .map(one -> row("queue", one.getKey(), "state", "running", one.getValue())))
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

    private interface Read {
        Optional<Double> from(Vitals.ScheduleVitals schedule);
    }

    private static List<MultiGauge.Row<?>> schedules(Vitals.Figures figures, Read read) {
        return figures.schedules().stream()
                .<MultiGauge.Row<?>>flatMap(schedule ->
                        read
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
