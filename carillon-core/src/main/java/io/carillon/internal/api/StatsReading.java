package io.carillon.internal.api;

import io.carillon.Stats;
import io.carillon.Stats.RunStats;
import io.carillon.Stats.RunStats.Count;
import io.carillon.event.Relay;
import io.carillon.internal.store.DatabaseVitals;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.RelayStore;
import java.time.Duration;
import java.time.Instant;

/** Reads the statistics of all projects. */
public final class StatsReading {
    private static final String DEFAULT_PROJECT = "default";
    private static final Duration PERIOD = Duration.ofHours(1);

    private StatsReading() {}

    /** Returns what is waiting, how late it is, and how the last hour went. */
    public static Stats read(Storage storage) {
        DatabaseVitals.Figures figures = storage.vitals().figures();
        DatabaseVitals vitals = storage.vitals().read();
        DatabaseVitals.OldTransaction old = vitals.oldTransaction();
        return new Stats(
                figures.queues().stream()
                        .map(queue -> new Stats.QueueStats(queue.queue(), queue.due(), queue.oldestDue()))
                        .toList(),
                figures.schedules().stream()
                        .map(schedule -> new Stats.ScheduleStats(
                                schedule.name(),
                                schedule.paused(),
                                schedule.nextAt(),
                                schedule.lag(),
                                schedule.lastSuccess()))
                        .toList(),
                figures.scheduleCount(),
                figures.activeSchedules(),
                vitals.stalled(),
                old == null ? Duration.ZERO : old.age(),
                executions(storage.stats().recent(PERIOD)),
                storage.relays().figures().stream()
                        .map(one -> relay(one, vitals.now()))
                        .toList());
    }

    private static Stats.RelayStats relay(RelayStore.Figures figures, Instant now) {
        String name = figures.name().name();
        Relay relay = figures.relay();
        Instant oldest = relay.lag().oldest();
        return new Stats.RelayStats(
                figures.name().project().equals(DEFAULT_PROJECT)
                        ? name
                        : figures.name().project() + "/" + name,
                relay.lag().count(),
                oldest == null || oldest.isAfter(now) ? Duration.ZERO : Duration.between(oldest, now),
                relay.rejected());
    }

    private static Stats.Executions executions(RunStats.Figures recent) {
        return new Stats.Executions(
                recent.count(Count.STARTED) / (double) PERIOD.toMinutes(),
                recent.runTime().mean(),
                recent.failureRate().orElse(0.0),
                recent.count(Count.RESCUED) + recent.count(Count.QUARANTINED));
    }
}
