package io.carillon.internal.engine.stats;

import static java.util.Objects.requireNonNull;

import io.carillon.Stats.RunStats.Count;
import io.carillon.internal.engine.listener.AttemptListener;
import io.carillon.internal.engine.listener.Listeners;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.stats.EndingCounter;
import io.carillon.internal.store.stats.StatsRow;
import io.carillon.internal.store.stats.StatsStore;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.Origin;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Counts what starts and ends in this process, per minute of the database clock, project, queue and handler.
 * Thread-safe; the threads that count wait for nothing.
 *
 * <p>The number of series is limited: beyond its share of the {@value #MAX_SERIES} of an hour, further series of a
 * project are counted as its queue and handler {@value #OTHER}.
 */
public final class StatsRecorder implements EndingCounter {
    /** The number of named series in an hour that projects share, and of projects that have further ones. */
    static final int MAX_SERIES = NamedSeries.SHARED;
    /** The queue and the handler of the series beyond the limit. */
    static final String OTHER = "other";
    /** How many minutes are kept while they cannot be written. */
    private static final int MAX_MINUTES = 180;

    private static final int SECONDS_PER_MINUTE = 60;
    private static final int MINUTES_PER_HOUR = 60;

    private final StatsStore store;
    private final DatabaseClock clock;
    private final ConcurrentLinkedQueue<Minute> minutes = new ConcurrentLinkedQueue<>();
    /** One thread writes at a time; no thread that counts takes this lock. */
    private final Object writing = new Object();

    private volatile Minute current;
    private volatile Runnable onFirstCount = () -> {};
    private long version;

    public StatsRecorder(StatsStore store, DatabaseClock clock) {
        this.store = store;
        this.clock = clock;
        this.current = new Minute(Long.MIN_VALUE, Uuid7.next(), new NamedSeries());
    }

    /** The counts of one minute. {@code named} is shared by the minutes of an hour. */
    private static final class Minute {
        private final long number;
        private final UUID recorder;
        private final NamedSeries named;
        private final Map<Series, StatsCell> cells = new ConcurrentHashMap<>();
        /** Whether a write has seen that a later minute began: a thread may have read the clock just before. */
        private boolean over;

        Minute(long number, UUID recorder, NamedSeries named) {
            this.number = number;
            this.recorder = recorder;
            this.named = named;
        }

        StatsCell cell(Series series) {
            StatsCell cell = cells.get(series);
            return cell != null ? cell : cells.computeIfAbsent(countedAs(series), one -> new StatsCell());
        }

        /** Returns the series, or what it is counted as beyond the limit. */
        private Series countedAs(Series series) {
            if (named.contains(series)) return series;
            Series other = new Series(series.project(), OTHER, OTHER);
            return cells.containsKey(other) || cells.size() < NamedSeries.MAX + MAX_SERIES
                    ? other
                    : new Series("", OTHER, OTHER);
        }

        StatsRow.Key keyOf(Series series) {
            return new StatsRow.Key(
                    recorder,
                    Instant.ofEpochSecond(number * SECONDS_PER_MINUTE),
                    series.project(),
                    series.queue(),
                    series.target());
        }
    }

    /** Sets the action that runs when there is something to write. It may run several times. */
    public void onFirstCount(Runnable action) {
        onFirstCount = action;
    }

    /** Returns listeners that count attempts and then call these. */
    public Listeners.EngineListeners countingBefore(Listeners.EngineListeners next) {
        return new Listeners.EngineListeners(countingBefore(next.attempts()), next.schedules());
    }

    private AttemptListener countingBefore(AttemptListener next) {
        return new AttemptListener() {
            @Override
            public void onAttemptStarted(Attempt attempt, Duration late) {
                started(attempt, late);
                next.onAttemptStarted(attempt, late);
            }

            @Override
            public void onAttemptEnded(Attempt attempt, Transition transition, Duration took) {
                ended(attempt, transition, took);
                next.onAttemptEnded(attempt, transition, took);
            }
        };
    }

    private void started(Attempt attempt, Duration late) {
        StatsCell cell = cell(attempt);
        cell.add(Count.STARTED, 1);
        long lateMicros = micros(late);
        if (attempt.origin() == Origin.TICK) cell.lateness().add(lateMicros);
        // A later attempt waited for its retry delay, which says nothing about the load of the nodes.
        if (attempt.number() == 1)
            cell.waitTime().add(Math.max(0, lateMicros - microsBeforeDue(attempt.times(), attempt.origin())));
    }

    /** Returns how long after the instant from which lateness is measured the run was due. */
    private static long microsBeforeDue(Attempt.Times times, Origin origin) {
        Instant expected = times.expectedAt(origin);
        return expected.equals(times.dueAt()) ? 0 : micros(Duration.between(expected, times.dueAt()));
    }

    private void ended(Attempt attempt, Transition transition, Duration took) {
        StatsCell cell = cell(attempt);
        cell.runTime().add(micros(took));
        Count outcome = EndingCounter.countOf(transition);
        if (outcome != null) cell.add(outcome, 1);
    }

    private static long micros(Duration duration) {
        return Math.max(0, duration.getSeconds()) * 1_000_000 + duration.getNano() / 1_000;
    }

    @Override
    public void count(Series series, Count what, long number) {
        if (number > 0) minute().cell(series).add(what, number);
    }

    private StatsCell cell(Attempt attempt) {
        return minute().cell(EndingCounter.seriesOf(attempt));
    }

    private Minute minute() {
        long number = Math.floorDiv(clock.now().getEpochSecond(), SECONDS_PER_MINUTE);
        Minute now = current;
        return number == now.number ? now : begin(number);
    }

    /**
     * Begins another minute. A thread that read the clock just before counts in the minute that has begun. If the
     * database clock was set back, the same minutes come again: their counts get another recorder, because absolute
     * counts would replace those that are written.
     */
    private synchronized Minute begin(long number) {
        Minute before = current;
        if (number == before.number || number == before.number - 1) return before;
        boolean sameHour = Math.floorDiv(number, MINUTES_PER_HOUR) == Math.floorDiv(before.number, MINUTES_PER_HOUR);
        Minute next = new Minute(
                number,
                number < before.number ? Uuid7.next() : before.recorder,
                sameHour ? before.named : new NamedSeries());
        minutes.add(next);
        while (minutes.size() > MAX_MINUTES) minutes.poll();
        current = next;
        onFirstCount.run();
        return next;
    }

    /**
     * Writes what was counted since the last write, and the sums of each project that changed, so that charts of a
     * project do not read all its series. The next call repeats a write that failed.
     */
    public void write() {
        synchronized (writing) {
            version++;
            List<StatsRow> rows = new ArrayList<>();
            List<StatsCell> cells = new ArrayList<>();
            Minute now = current;
            Iterator<Minute> all = minutes.iterator();
            while (all.hasNext()) {
                Minute minute = all.next();
                int before = rows.size();
                Map<String, StatsRow> totals = new HashMap<>();
                Set<String> changed = new HashSet<>();
                minute.cells.forEach((series, cell) -> {
                    StatsRow row = cell.row(minute.keyOf(series), version);
                    totals.merge(series.project(), row.asTotal(), StatsRow::plus);
                    if (cell.isNew(row)) {
                        rows.add(row);
                        cells.add(cell);
                        changed.add(series.project());
                    }
                });
                changed.forEach(project -> rows.add(requireNonNull(totals.get(project))));
                if (minute.over && rows.size() == before) all.remove();
                minute.over = minute != now;
            }
            write(rows, cells);
        }
    }

    private void write(List<StatsRow> rows, List<StatsCell> cells) {
        if (rows.isEmpty()) return;
        boolean written = false;
        try {
            store.write(rows);
            written = true;
        } finally {
            if (!written) cells.forEach(StatsCell::writeAgain);
        }
    }
}
