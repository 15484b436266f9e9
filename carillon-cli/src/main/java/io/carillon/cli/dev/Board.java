package io.carillon.cli.dev;

import io.carillon.run.Attempt;
import io.carillon.run.Run;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.run.RunListener;
import io.carillon.run.Transition;
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

/** What this node does now and did last, from what its listener hears. Safe for several threads; events reach the outside in the order they happened. */
final class Board implements RunListener {
    private static final int KEPT = 200;
    /** Progress becomes an event whenever it passes another fifth. */
    private static final int PARTS = 5;

    /** An attempt that runs. */
    record Running(String schedule, String run, int attempt, Duration since, double part) {}

    /** How many ended how since the start, and how many lie in the dead letter. */
    record Tally(long succeeded, long failed, long dead) {}

    private static final class Going {
        final Attempt attempt;
        final long startNanos = System.nanoTime();
        double part = -1;

        Going(Attempt attempt) {
            this.attempt = attempt;
        }
    }

    private final InstantSource clock;
    private final Consumer<RunEvent> listener;
    private final Map<RunId, Going> going = new LinkedHashMap<>();
    private final Deque<RunEvent> last = new ArrayDeque<>();
    private long succeeded;
    private long failed;
    private long dead;

    Board(InstantSource clock, Consumer<RunEvent> listener) {
        this.clock = clock;
        this.listener = listener;
    }

    /** What the database remembers of earlier starts, in any order; events that happened since stay in front. */
    synchronized void remember(List<Run> ended, int deadLetter) {
        ended.stream()
                .map(RunEvent::of)
                .sorted(Comparator.comparing(RunEvent::at).reversed())
                .limit(KEPT - last.size())
                .forEach(last::addLast);
        dead += deadLetter;
    }

    @Override
    public synchronized void started(Attempt attempt) {
        going.put(attempt.run(), new Going(attempt));
    }

    /** Told by the demo handlers, which work in this process: the database hears of it only with the next beat. */
    synchronized void progress(RunContext run, long done, long total) {
        run.progress(done, total);
        Going entry = going.get(run.id());
        if (entry == null || total <= 0) return;
        int before = (int) (Math.max(0, entry.part) * PARTS);
        entry.part = Math.min(1, (double) done / total);
        int now = (int) (entry.part * PARTS);
        if (now > before && now < PARTS) {
            String percent = now * 100 / PARTS + " %";
            RunEvent.Facts facts = new RunEvent.Facts(entry.attempt.number(), since(entry), Duration.ZERO, percent);
            listener.accept(RunEvent.of(clock.instant(), entry.attempt, RunEvent.Kind.PROGRESS, facts));
        }
    }

    @Override
    public synchronized void ended(Attempt attempt, Transition transition, Duration took) {
        going.remove(attempt.run());
        note(RunEvent.of(clock.instant(), attempt, transition, took));
    }

    /** What still ran when the node had stopped was handed back; answers how many. */
    synchronized int handBackTheRest() {
        List<Going> rest = List.copyOf(going.values());
        going.clear();
        for (Going entry : rest) {
            RunEvent.Facts facts = new RunEvent.Facts(entry.attempt.number(), since(entry), Duration.ZERO, "");
            note(RunEvent.of(clock.instant(), entry.attempt, RunEvent.Kind.HANDED_BACK, facts));
        }
        return rest.size();
    }

    private void note(RunEvent event) {
        switch (event.kind()) {
            case SUCCEEDED -> succeeded++;
            case RETRY -> failed++;
            case DEAD -> {
                failed++;
                dead++;
            }
            default -> {}
        }
        last.addFirst(event);
        if (last.size() > KEPT) last.removeLast();
        listener.accept(event);
    }

    synchronized List<Running> running() {
        List<Running> rows = new ArrayList<>();
        for (Going entry : going.values())
            rows.add(new Running(
                    entry.attempt.target().name(),
                    entry.attempt.run().toString(),
                    entry.attempt.counts().failures() + 1,
                    since(entry),
                    entry.part));
        return rows;
    }

    /** Newest first. */
    synchronized List<RunEvent> last() {
        return List.copyOf(last);
    }

    synchronized Tally tally() {
        return new Tally(succeeded, failed, dead);
    }

    private static Duration since(Going entry) {
        return Duration.ofNanos(System.nanoTime() - entry.startNanos);
    }
}
