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
    private static final String DEFAULT_PROJECT = "default";

    private final MeterRegistry registry;
    private final RunTags tags = new RunTags();
    private final Counter ticksPlanned;

    /** Creates an instance that publishes to this registry. */
    public CarillonMeters(MeterRegistry registry) {
        this.registry = registry;
        // Registered here, so that dashboards show 0 before the first tick.
        ticksPlanned = Counter.builder("carillon.ticks.planned")
                .description("Ticks that this node planned")
                .register(registry);
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
        if (run.origin() == Origin.TICK)
            timer("carillon.tick.lateness", "Time from the planned instant of a tick to the start of an attempt", run)
                    .record(started.lateness());
        // A later attempt waited for its retry delay, which says nothing about the load of the nodes.
        if (run.attempt() == 1)
            timer("carillon.run.wait", "Time from the due time of a run to the start of its first attempt", run)
                    .record(started.waited());
    }

    private void countEnd(RunEvent.AttemptEnded ended) {
        RunInfo run = ended.run();
        timer("carillon.run", "Duration of attempts", run).record(ended.took());
        if (ended instanceof RunEvent.Failed)
            Counter.builder("carillon.attempt.retries")
                    .description("Attempts that failed and are retried")
                    .tags(tags.of(run))
                    .register(registry)
                    .increment();
        else if (ended instanceof RunEvent.Succeeded) countFinished(run, "succeeded");
        else if (ended instanceof RunEvent.Cancelled) countFinished(run, "cancelled");
        else if (ended instanceof RunEvent.Dead) countFinished(run, "dead");
    }

    private void countFinished(RunInfo run, String outcome) {
        Counter.builder("carillon.runs.finished")
                .description("Runs that ended")
                .tags(tags.of(run))
                .tag("outcome", outcome)
                .register(registry)
                .increment();
    }

    @Override
    public void onScheduleEvent(ScheduleEvent event) {
        if (event instanceof ScheduleEvent.Planned planned) ticksPlanned.increment(planned.ticks());
        else if (event instanceof ScheduleEvent.Missed missed)
            Counter.builder("carillon.schedule.missed")
                    .description("Instants that this node recorded as missed")
                    .tag("schedule", tags.ofSchedule(label(missed)))
                    .tag("policy", missed.policy().text())
                    .register(registry)
                    .increment((double) missed.instants().count());
    }

    /** Returns the name that the gauges of the schedule have. */
    private static String label(ScheduleEvent.Missed missed) {
        return missed.project().equals(DEFAULT_PROJECT)
                ? missed.schedule()
                : missed.project() + "/" + missed.schedule();
    }

    /** Publishes the gauges of this Carillon instance for as long as it is open. */
    public void watch(Carillon carillon) {
        SnapshotCache cache = new SnapshotCache(carillon, registry);
        slots(cache, "busy", snapshot -> snapshot.slots().busy());
        slots(
                cache,
                "free",
                snapshot -> snapshot.slots().total() - snapshot.slots().busy());
        gauge(cache, "carillon.listening", "1 if LISTEN delivers notifications", one -> one.listening() ? 1 : 0);
        gauge(cache, "carillon.schedules", "All schedules", SnapshotCache.Snapshot::schedules);
        gauge(
                cache,
                "carillon.schedules.active",
                "Schedules that are not paused",
                SnapshotCache.Snapshot::activeSchedules);
        gauge(cache, "carillon.runs.stalled", "Runs that no live node owns", SnapshotCache.Snapshot::stalled);
        Gauge.builder("carillon.database.oldest.transaction", () -> cache.get().oldestTransaction())
                .description("Age of the oldest open transaction that prevents vacuum")
                .baseUnit("seconds")
                .strongReference(true)
                .register(registry);
        counter(
                cache,
                "carillon.lease.expired",
                "Runs that this node rescued from dead nodes",
                snapshot -> snapshot.counts().rescued() + snapshot.counts().quarantined());
        counter(
                cache,
                "carillon.rescue.failures",
                "Failed attempts of this node to release runs of dead nodes",
                snapshot -> snapshot.counts().rescueFailures());
        counter(
                cache,
                "carillon.nodes.died",
                "Dead nodes whose runs this node released",
                snapshot -> snapshot.counts().deadNodes());
        FunctionTimer.builder(
                        "carillon.db.poll",
                        cache,
                        read -> read.get().counts().polls(),
                        read -> read.get().counts().pollTime().toNanos(),
                        TimeUnit.NANOSECONDS)
                .description("Polls of the queues, and their duration")
                .register(registry);
        Gauge.builder("carillon.build.info", () -> 1)
                .description("The version of Carillon in this process; always 1")
                .tag("version", version())
                .strongReference(true)
                .register(registry);
    }

    private void slots(SnapshotCache cache, String state, ToDoubleFunction<SnapshotCache.Snapshot> read) {
        Gauge.builder("carillon.node.slots", () -> read.applyAsDouble(cache.get()))
                .description("Slots of this node")
                .tag("state", state)
                .strongReference(true)
                .register(registry);
    }

    private void gauge(
            SnapshotCache cache, String name, String description, ToDoubleFunction<SnapshotCache.Snapshot> read) {
        Gauge.builder(name, () -> read.applyAsDouble(cache.get()))
                .description(description)
                .strongReference(true)
                .register(registry);
    }

    /** The function counter holds the cache weakly; the gauges keep it reachable. */
    private void counter(
            SnapshotCache cache, String name, String description, ToDoubleFunction<SnapshotCache.Snapshot> read) {
        FunctionCounter.builder(name, cache, snapshotCache -> read.applyAsDouble(snapshotCache.get()))
                .description(description)
                .register(registry);
    }

    private Timer timer(String name, String description, RunInfo run) {
        return Timer.builder(name)
                .description(description)
                .tags(tags.of(run))
                .publishPercentileHistogram()
                .minimumExpectedValue(Duration.ofMillis(1))
                .maximumExpectedValue(Duration.ofMinutes(15))
                .register(registry);
    }

    private static String version() {
        String version = Carillon.class.getPackage().getImplementationVersion();
        return version == null ? "dev" : version;
    }
}
