package io.carillon.micrometer;

import io.carillon.Carillon;
import io.carillon.run.Attempt;
import io.carillon.run.Origin;
import io.carillon.run.Transition;
import io.carillon.spi.RunListener;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.ScheduleListener;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/**
 * Publishes Carillon metrics to a Micrometer registry. Register the instance with
 * {@link io.carillon.CarillonBuilder#listener}, and pass the started Carillon to {@link #watch}. Attempts are counted
 * when they happen; database statistics are read when a gauge is read, at most every 10 seconds. Thread-safe.
 */
public final class CarillonMeters implements RunListener, ScheduleListener {
    private final MeterRegistry registry;

    /** Creates an instance that publishes to this registry. */
    public CarillonMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public boolean isNonBlocking() {
        return true;
    }

    @Override
    public void onAttemptStarted(Attempt attempt, Duration late) {
        Attempt.Times times = attempt.times();
        if (attempt.origin() == Origin.TICK)
            timer("carillon.tick.lateness", attempt).record(late);
        // A later attempt waited for its retry delay, which says nothing about the load of the nodes.
        if (attempt.number() > 1) return;
        Duration waited = late.minus(Duration.between(times.expectedAt(attempt.origin()), times.dueAt()));
        timer("carillon.run.wait", attempt).record(waited.isNegative() ? Duration.ZERO : waited);
    }

    @Override
    public void onAttemptEnded(Attempt attempt, Transition transition, Duration took) {
        timer("carillon.run", attempt).record(took);
        if (transition instanceof Transition.Retry) {
            registry.counter("carillon.attempt.retries", tags(attempt)).increment();
        } else if (!(transition instanceof Transition.Snooze || transition instanceof Transition.AwaitCallback)) {
            registry.counter("carillon.runs.finished", tags(attempt).and("outcome", outcome(transition)))
                    .increment();
        }
    }

    @Override
    public void onTicksPlanned(String project, String schedule, int ticks) {
        registry.counter("carillon.ticks.planned").increment(ticks);
    }

    @Override
    public void onScheduleEvent(ScheduleEvent event) {
        if (event instanceof ScheduleEvent.Missed missed)
            registry.counter(
                            "carillon.schedule.missed",
                            "schedule",
                            missed.schedule(),
                            "policy",
                            missed.policy().text())
                    .increment((double) missed.instants().count());
    }

    /** Publishes the gauges of this Carillon instance for as long as it is open. */
    public void watch(Carillon carillon) {
        SnapshotCache cache = new SnapshotCache(carillon, registry);
        slots(cache, "busy", snapshot -> snapshot.slots().busy());
        slots(
                cache,
                "free",
                snapshot -> snapshot.slots().total() - snapshot.slots().busy());
        gauge(cache, "carillon.leader", snapshot -> snapshot.leading() ? 1 : 0);
        gauge(cache, "carillon.listening", snapshot -> snapshot.listening() ? 1 : 0);
        gauge(cache, "carillon.health.issues", SnapshotCache.Snapshot::issues);
        gauge(cache, "carillon.schedules", SnapshotCache.Snapshot::schedules);
        gauge(cache, "carillon.schedules.active", SnapshotCache.Snapshot::activeSchedules);
        gauge(cache, "carillon.runs.stalled", SnapshotCache.Snapshot::stalled);
        seconds(cache, "carillon.database.oldest.transaction", SnapshotCache.Snapshot::oldestTransaction);
        counter(
                cache,
                "carillon.lease.expired",
                snapshot -> snapshot.counts().rescued() + snapshot.counts().quarantined());
        counter(cache, "carillon.nodes.died", snapshot -> snapshot.counts().deadNodes());
        FunctionTimer.builder(
                        "carillon.db.poll",
                        cache,
                        read -> read.get().counts().polls(),
                        read -> read.get().counts().pollTime().toNanos(),
                        TimeUnit.NANOSECONDS)
                .register(registry);
        Gauge.builder("carillon.build.info", () -> 1)
                .tag("version", version())
                .strongReference(true)
                .register(registry);
    }

    private void slots(SnapshotCache cache, String state, ToDoubleFunction<SnapshotCache.Snapshot> read) {
        Gauge.builder("carillon.node.slots", () -> read.applyAsDouble(cache.get()))
                .tag("state", state)
                .strongReference(true)
                .register(registry);
    }

    private void gauge(SnapshotCache cache, String name, ToDoubleFunction<SnapshotCache.Snapshot> read) {
        Gauge.builder(name, () -> read.applyAsDouble(cache.get()))
                .strongReference(true)
                .register(registry);
    }

    private void seconds(SnapshotCache cache, String name, ToDoubleFunction<SnapshotCache.Snapshot> read) {
        Gauge.builder(name, () -> read.applyAsDouble(cache.get()))
                .baseUnit("seconds")
                .strongReference(true)
                .register(registry);
    }

    /** The function counter holds the cache weakly; the gauges keep it reachable. */
    private void counter(SnapshotCache cache, String name, ToDoubleFunction<SnapshotCache.Snapshot> read) {
        FunctionCounter.builder(name, cache, snapshotCache -> read.applyAsDouble(snapshotCache.get()))
                .register(registry);
    }

    private Timer timer(String name, Attempt attempt) {
        return Timer.builder(name)
                .tags(tags(attempt))
                .publishPercentileHistogram()
                .minimumExpectedValue(Duration.ofMillis(1))
                .maximumExpectedValue(Duration.ofMinutes(15))
                .register(registry);
    }

    private static Tags tags(Attempt attempt) {
        return Tags.of("type", attempt.target().name(), "queue", attempt.lane().queue());
    }

    private static String outcome(Transition transition) {
        if (transition instanceof Transition.Complete) return "succeeded";
        return transition instanceof Transition.Cancel ? "cancelled" : "dead";
    }

    private static String version() {
        String version = Carillon.class.getPackage().getImplementationVersion();
        return version == null ? "dev" : version;
    }
}
