package io.carillon.micrometer;

import io.carillon.Carillon;
import io.carillon.Health;
import io.carillon.NodeConfig;
import io.carillon.NodeStatus;
import io.carillon.Stats;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
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
    record Snapshot(@Nullable NodeStatus status, @Nullable Stats stats) {
        NodeStatus.SlotUsage slots() {
            return status == null ? new NodeStatus.SlotUsage(0, 0) : status.slots();
        }

        NodeStatus.Counts counts() {
            return status == null ? NO_COUNTS : status.counts();
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
    private final MultiGauge issues;
    private final MultiGauge leader;
    private final MultiGauge runs;
    private final MultiGauge oldestDue;
    private final MultiGauge lag;
    private final MultiGauge undelivered;
    private final MultiGauge nextRun;
    private final MultiGauge lastSuccess;
    private final MultiGauge relayLag;
    private final MultiGauge relayLagSeconds;
    private final MultiGauge relayRejected;
    private Snapshot last = new Snapshot(null, null);
    private long readAt = System.nanoTime() - CACHE_NANOS;

    SnapshotCache(Carillon carillon, MeterRegistry registry) {
        this.carillon = carillon;
        this.issues = MultiGauge.builder("carillon.health.issues")
                .description("Issues of a health check, by their kind")
                .register(registry);
        this.leader = MultiGauge.builder("carillon.leader")
                .description("1 if this node holds the planning token; with leader planning only")
                .register(registry);
        this.runs = MultiGauge.builder("carillon.runs")
                .description("Due runs that wait in the cluster, and attempts that this node executes")
                .register(registry);
        this.oldestDue =
                inSeconds("carillon.queue.oldest.due", "How long the first due run of a queue has waited", registry);
        this.undelivered = MultiGauge.builder("carillon.subscription.lag")
                .description("Events of a subscription that have no run yet, counted up to 10,000")
                .register(registry);
        this.lag = inSeconds("carillon.schedule.lag", "How long the next tick of a schedule has been due", registry);
        this.nextRun = inSeconds(
                "carillon.schedule.next.run.timestamp",
                "The next planned instant of a schedule that is not paused",
                registry);
        this.lastSuccess = inSeconds(
                "carillon.schedule.last.success.timestamp", "When a run of the schedule last succeeded", registry);
        this.relayLag = MultiGauge.builder("carillon.relay.lag")
                .description("Events that a relay has not sent, without those that are held")
                .register(registry);
        this.relayLagSeconds =
                inSeconds("carillon.relay.oldest", "How long the oldest of these events has waited", registry);
        this.relayRejected = MultiGauge.builder("carillon.relay.rejected")
                .description("Events that the destination of a relay has rejected")
                .register(registry);
    }

    private static MultiGauge inSeconds(String name, String description, MeterRegistry registry) {
        return MultiGauge.builder(name)
                .description(description)
                .baseUnit("seconds")
                .register(registry);
    }

    synchronized Snapshot get() {
        if (System.nanoTime() - readAt < CACHE_NANOS) return last;
        readAt = System.nanoTime();
        try {
            updateIssues(carillon.health());
            last = new Snapshot(carillon.status().orElse(null), carillon.stats());
            updateGauges(last);
        } catch (RuntimeException unreadable) {
            // The instance is closed or the database is unavailable. The health check reports this; the gauges keep
            // their last values.
        }
        return last;
    }

    private void updateIssues(Health health) {
        issues.register(
                Stream.of(Health.Kind.values())
                        .<MultiGauge.Row<?>>map(kind -> MultiGauge.Row.of(
                                Tags.of(
                                        "kind",
                                        kind.name().toLowerCase(Locale.ROOT).replace('_', '-')),
                                health.issues().stream()
                                        .filter(issue -> issue.kind() == kind)
                                        .count()))
                        .toList(),
                true);
    }

    private void updateGauges(Snapshot now) {
        @Nullable NodeStatus status = now.status();
        // A node that does not plan as a leader has no value, so that an alert about a missing leader does not fire.
        leader.register(
                Stream.ofNullable(status)
                        .filter(node -> node.planning() == NodeConfig.Planning.LEADER)
                        .<MultiGauge.Row<?>>map(node -> MultiGauge.Row.of(Tags.empty(), node.leading() ? 1 : 0))
                        .toList(),
                true);
        undelivered.register(
                carillon.events().subscriptions().stream()
                        .<MultiGauge.Row<?>>map(subscription -> MultiGauge.Row.of(
                                Tags.of("subscription", subscription.name()),
                                subscription.lag().count()))
                        .toList(),
                true);
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
                        .<MultiGauge.Row<?>>map(
                                queue -> MultiGauge.Row.of(Tags.of("queue", queue.queue()), seconds(queue.oldestDue())))
                        .toList(),
                true);
        lag.register(schedules(stats, schedule -> Optional.of(seconds(schedule.lag()))), true);
        nextRun.register(schedules(stats, schedule -> epoch(schedule.nextAt())), true);
        lastSuccess.register(schedules(stats, schedule -> epoch(schedule.lastSuccess())), true);
        relayLag.register(relays(stats, Stats.RelayStats::lag), true);
        relayLagSeconds.register(relays(stats, relay -> seconds(relay.oldest())), true);
        relayRejected.register(relays(stats, Stats.RelayStats::rejected), true);
    }

    private static List<MultiGauge.Row<?>> relays(Stats stats, Function<Stats.RelayStats, Number> value) {
        return stats.relays().stream()
                .<MultiGauge.Row<?>>map(relay -> MultiGauge.Row.of(Tags.of("relay", relay.name()), value.apply(relay)))
                .toList();
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
