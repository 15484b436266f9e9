package io.carillon.internal.store.stats;

import io.carillon.Stats.RunStats;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.UUID;

/**
 * What one process counted in one minute for one handler in one queue. The counts are absolute: a later row of the same
 * key replaces an earlier one.
 *
 * @param version grows with each write of the recorder
 */
public record StatsRow(Key key, long version, Map<RunStats.Count, Long> counts, Durations durations) {
    /** The queue and the handler of a row with the sums of all series of a project; no queue has this name. */
    public static final String ALL = "";

    public StatsRow {
        counts = Map.copyOf(counts);
    }

    /** The key of a row: who counted what, and when. */
    public record Key(UUID recorder, Instant minute, String project, String queue, String target) {}

    /** The durations of attempts: how late ticks started, how long first attempts waited, how long attempts took. */
    public record Durations(DurationHistogram lateness, DurationHistogram waitTime, DurationHistogram runTime) {
        Durations plus(Durations other) {
            return new Durations(
                    lateness.plus(other.lateness), waitTime.plus(other.waitTime), runTime.plus(other.runTime));
        }
    }

    /** Returns these counts as those of all series of the project. */
    public StatsRow asTotal() {
        return new StatsRow(new Key(key.recorder, key.minute, key.project, ALL, ALL), version, counts, durations);
    }

    /** Returns the sum of both rows, with the key of this one. */
    public StatsRow plus(StatsRow other) {
        Map<RunStats.Count, Long> sum = new EnumMap<>(RunStats.Count.class);
        sum.putAll(counts);
        other.counts.forEach((what, number) -> sum.merge(what, number, Long::sum));
        return new StatsRow(key, version, sum, durations.plus(other.durations));
    }

    /** Returns one of the counts. */
    public long count(RunStats.Count what) {
        return counts.getOrDefault(what, 0L);
    }
}
