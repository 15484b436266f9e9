package io.carillon.micrometer;

import io.carillon.Carillon;
import io.carillon.run.Attempt;
import io.carillon.run.Origin;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
import io.carillon.schedule.ScheduleEvent;
import io.carillon.schedule.ScheduleListener;
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
 * Carillon's meters in a registry of yours: give it to {@link io.carillon.CarillonBuilder#listener}, and the started Carillon to {@link #watch}. What
 * attempts tell is counted as they go; figures of the database are read when somebody looks, at most every ten seconds. Thread-safe.
 */
public final class CarillonMeters implements RunListener, ScheduleListener {
    private final MeterRegistry registry;

    public CarillonMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public boolean quick() {
        return true;
    }

    @Override
    public void started(Attempt attempt, Duration late) {
        Attempt.Times times = attempt.times();
        if (attempt.origin() == Origin.TICK)
            timer("carillon.tick.lateness", attempt).record(late);
        // A later attempt waited for its backoff, which says nothing about the nodes.
        if (attempt.number() > 1) return;
        Duration waited = late.minus(Duration.between(times.expectedAt(attempt.origin()), times.dueAt()));
        timer("carillon.run.wait", attempt).record(waited.isNegative() ? Duration.ZERO : waited);
    }

    @Override
    public void ended(Attempt attempt, Transition transition, Duration took) {
        timer("carillon.run", attempt).record(took);
        if (transition instanceof Transition.Retry) {
            registry.counter("carillon.attempt.retries", tags(attempt)).increment();
        } else if (!(transition instanceof Transition.Snooze || transition instanceof Transition.Await)) {
            registry.counter("carillon.runs.finished", tags(attempt).and("outcome", outcome(transition)))
                    .increment();
        }
    }

    @Override
    public void planned(String project, String schedule, int ticks) {
        registry.counter("carillon.ticks.planned").increment(ticks);
    }

    @Override
    public void heard(ScheduleEvent event) {
        if (event instanceof ScheduleEvent.Missed missed)
            registry.counter(
                            "carillon.schedule.missed",
                            "schedule",
                            missed.schedule(),
                            "policy",
                            missed.policy().text())
                    .increment((double) missed.instants().count());
    }

    /** Reads the figures of this Carillon from now on, for as long as it is open. */
    public void watch(Carillon carillon) {
        Snapshots now = new Snapshots(carillon, registry);
        slots(now, "busy", snapshot -> snapshot.slots().busy());
        slots(now, "free", snapshot -> snapshot.slots().all() - snapshot.slots().busy());
        gauge(now, "carillon.leader", snapshot -> snapshot.leading() ? 1 : 0);
        gauge(now, "carillon.listening", snapshot -> snapshot.listening() ? 1 : 0);
        gauge(now, "carillon.health.issues", Snapshots.Snapshot::issues);
        gauge(now, "carillon.schedules", Snapshots.Snapshot::schedules);
        gauge(now, "carillon.schedules.active", Snapshots.Snapshot::activeSchedules);
        gauge(now, "carillon.runs.stalled", Snapshots.Snapshot::stalled);
        seconds(now, "carillon.database.oldest.transaction", Snapshots.Snapshot::oldestTransaction);
        counter(
                now,
                "carillon.lease.expired",
                snapshot -> snapshot.counts().rescued() + snapshot.counts().quarantined());
        counter(now, "carillon.nodes.died", snapshot -> snapshot.counts().deadNodes());
        FunctionTimer.builder(
                        "carillon.db.poll",
                        now,
                        read -> read.get().counts().looks(),
                        read -> read.get().counts().looking().toNanos(),
                        TimeUnit.NANOSECONDS)
                .register(registry);
        Gauge.builder("carillon.build.info", () -> 1)
                .tag("version", version())
                .strongReference(true)
                .register(registry);
    }

    private void slots(Snapshots now, String state, ToDoubleFunction<Snapshots.Snapshot> read) {
        Gauge.builder("carillon.node.slots", () -> read.applyAsDouble(now.get()))
                .tag("state", state)
                .strongReference(true)
                .register(registry);
    }

    private void gauge(Snapshots now, String name, ToDoubleFunction<Snapshots.Snapshot> read) {
        Gauge.builder(name, () -> read.applyAsDouble(now.get()))
                .strongReference(true)
                .register(registry);
    }

    private void seconds(Snapshots now, String name, ToDoubleFunction<Snapshots.Snapshot> read) {
        Gauge.builder(name, () -> read.applyAsDouble(now.get()))
                .baseUnit("seconds")
                .strongReference(true)
                .register(registry);
    }

    /** The gauges hold the snapshots, so what is counted by them stays too. */
    private void counter(Snapshots now, String name, ToDoubleFunction<Snapshots.Snapshot> read) {
        FunctionCounter.builder(name, now, snapshots -> read.applyAsDouble(snapshots.get()))
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
