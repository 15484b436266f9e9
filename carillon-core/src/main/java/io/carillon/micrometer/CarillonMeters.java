package io.carillon.micrometer;

import io.carillon.Carillon;
import io.carillon.run.Origin;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunInfo;
import io.carillon.spi.RunListener;
import io.carillon.spi.ScheduleEvent;
import io.carillon.spi.ScheduleListener;
import io.micrometer.core.instrument.Counter;
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
    private final Counter ticksPlanned;

    /** Creates an instance that publishes to this registry. */
    public CarillonMeters(MeterRegistry registry) {
        this.registry = registry;
        // Registered here, so that dashboards show 0 before the first tick.
        ticksPlanned = registry.counter("carillon.ticks.planned");
    }

    @Override
    public boolean isNonBlocking() {
        return true;
    }

    @Override
    public void onRunEvent(RunEvent event) {
        if (event instanceof RunEvent.AttemptStarted started) countStart(started);
        else if (event instanceof RunEvent.AttemptEnded ended) countEnd(ended);
    }

    private void countStart(RunEvent.AttemptStarted started) {
        RunInfo run = started.run();
        if (run.origin() == Origin.TICK) timer("carillon.tick.lateness", run).record(started.lateness());
        // A later attempt waited for its retry delay, which says nothing about the load of the nodes.
        if (run.attempt() == 1) timer("carillon.run.wait", run).record(started.waited());
    }

    private void countEnd(RunEvent.AttemptEnded ended) {
        RunInfo run = ended.run();
        timer("carillon.run", run).record(ended.took());
        if (ended instanceof RunEvent.Failed)
            registry.counter("carillon.attempt.retries", tags(run)).increment();
        else if (ended instanceof RunEvent.Succeeded) countFinished(run, "succeeded");
        else if (ended instanceof RunEvent.Cancelled) countFinished(run, "cancelled");
        else if (ended instanceof RunEvent.Dead) countFinished(run, "dead");
    }

    private void countFinished(RunInfo run, String outcome) {
        registry.counter("carillon.runs.finished", tags(run).and("outcome", outcome))
                .increment();
    }

    @Override
    public void onScheduleEvent(ScheduleEvent event) {
        if (event instanceof ScheduleEvent.Planned planned) ticksPlanned.increment(planned.ticks());
        else if (event instanceof ScheduleEvent.Missed missed)
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
        counter(cache, "carillon.rescue.failures", snapshot -> snapshot.counts().rescueFailures());
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

    private Timer timer(String name, RunInfo run) {
        return Timer.builder(name)
                .tags(tags(run))
                .publishPercentileHistogram()
                .minimumExpectedValue(Duration.ofMillis(1))
                .maximumExpectedValue(Duration.ofMinutes(15))
                .register(registry);
    }

    private static Tags tags(RunInfo run) {
        return Tags.of("type", run.target().name(), "queue", run.queue());
    }

    private static String version() {
        String version = Carillon.class.getPackage().getImplementationVersion();
        return version == null ? "dev" : version;
    }
}
