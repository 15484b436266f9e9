package io.carillon.cli.dev;

import io.carillon.run.Run;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.spi.RunEvent;
import io.carillon.spi.RunInfo;
import io.carillon.spi.RunListener;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The running and the recent attempts of this node, as reported to its listener. Thread-safe; events are passed on in
 * the order in which they happen.
 */
final class RunActivity implements RunListener {
    private static final int MAX_EVENTS = 200;
    /** Progress is passed on as an event at each fifth of the work. */
    private static final int PROGRESS_STEPS = 5;

    /**
     * A running attempt.
     *
     * @param fraction the progress from 0 to 1, negative if none was reported
     */
    record ActiveRun(String schedule, String run, int attempt, Duration elapsed, double fraction) {}

    /** The numbers of succeeded and failed attempts since the start, and of all dead runs. */
    record Totals(long succeeded, long failed, long dead) {}

    private static final class RunningAttempt {
        final RunInfo run;
        final long startNanos = System.nanoTime();
        double fraction = -1;

        RunningAttempt(RunInfo run) {
            this.run = run;
        }
    }

    private final InstantSource clock;
    private final Consumer<ActivityEvent> listener;
    private final Map<RunId, RunningAttempt> runningAttempts = new LinkedHashMap<>();
    private final Deque<ActivityEvent> recentEvents = new ArrayDeque<>();
    private long succeeded;
    private long failed;
    private long dead;

    RunActivity(InstantSource clock, Consumer<ActivityEvent> listener) {
        this.clock = clock;
        this.listener = listener;
    }

    /** Adds runs that ended before this start, in any order. Events since the start stay in front. */
    synchronized void addHistory(List<Run> ended, int deadLetter) {
        ended.stream()
                .map(ActivityEvent::of)
                .sorted(Comparator.comparing(ActivityEvent::at).reversed())
                .limit(MAX_EVENTS - recentEvents.size())
                .forEach(recentEvents::addLast);
        dead += deadLetter;
    }

    @Override
    public synchronized void onRunEvent(RunEvent event) {
        if (event instanceof RunEvent.AttemptStarted started)
            runningAttempts.put(started.run().id(), new RunningAttempt(started.run()));
        else if (event instanceof RunEvent.AttemptEnded ended) {
            runningAttempts.remove(ended.run().id());
            addEvent(ActivityEvent.of(clock.instant(), ended));
        }
    }

    /**
     * Reports the progress of a demo handler. The view shows it immediately; the database receives it with
     * the next heartbeat.
     */
    synchronized void progress(RunContext run, long done, long total) {
        run.reportProgress(done, total);
        RunningAttempt entry = runningAttempts.get(run.id());
        if (entry == null || total <= 0) return;
        int before = (int) (Math.max(0, entry.fraction) * PROGRESS_STEPS);
        entry.fraction = Math.min(1, (double) done / total);
        int now = (int) (entry.fraction * PROGRESS_STEPS);
        if (now > before && now < PROGRESS_STEPS) {
            String percent = now * 100 / PROGRESS_STEPS + " %";
            ActivityEvent.Details details =
                    new ActivityEvent.Details(entry.run.attempt(), elapsed(entry), Duration.ZERO, percent);
            listener.accept(ActivityEvent.of(clock.instant(), entry.run, ActivityEvent.Kind.PROGRESS, details));
        }
    }

    /** Records the attempts that still ran when the node stopped as handed back. Returns their number. */
    synchronized int markHandedBack() {
        List<RunningAttempt> rest = List.copyOf(runningAttempts.values());
        runningAttempts.clear();
        for (RunningAttempt entry : rest) {
            ActivityEvent.Details details =
                    new ActivityEvent.Details(entry.run.attempt(), elapsed(entry), Duration.ZERO, "");
            addEvent(ActivityEvent.of(clock.instant(), entry.run, ActivityEvent.Kind.HANDED_BACK, details));
        }
        return rest.size();
    }

    private void addEvent(ActivityEvent event) {
        switch (event.kind()) {
            case SUCCEEDED -> succeeded++;
            case RETRY -> failed++;
            case DEAD -> {
                failed++;
                dead++;
            }
            default -> {}
        }
        recentEvents.addFirst(event);
        if (recentEvents.size() > MAX_EVENTS) recentEvents.removeLast();
        listener.accept(event);
    }

    synchronized List<ActiveRun> running() {
        List<ActiveRun> rows = new ArrayList<>();
        for (RunningAttempt entry : runningAttempts.values())
            rows.add(new ActiveRun(
                    entry.run.target().name(),
                    entry.run.id().toString(),
                    entry.run.failures() + 1,
                    elapsed(entry),
                    entry.fraction));
        return rows;
    }

    /** Returns the recent events, newest first. */
    synchronized List<ActivityEvent> recentEvents() {
        return List.copyOf(recentEvents);
    }

    synchronized Totals totals() {
        return new Totals(succeeded, failed, dead);
    }

    private static Duration elapsed(RunningAttempt entry) {
        return Duration.ofNanos(System.nanoTime() - entry.startNanos);
    }
}
