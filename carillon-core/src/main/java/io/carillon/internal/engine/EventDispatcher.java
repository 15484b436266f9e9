package io.carillon.internal.engine;

import io.carillon.internal.engine.listener.LoopReports;
import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.engine.node.ClusterSize;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.event.EventDispatchStore.Head;
import io.carillon.internal.store.event.EventDispatchStore.NewRuns;
import io.carillon.internal.store.event.EventDispatchStore.Place;
import io.carillon.internal.store.event.EventDispatchStore.Window;
import io.carillon.internal.store.event.EventPosition;
import io.carillon.internal.value.DatabaseClock;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.RunId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates runs for the events that subscriptions select. Like planning, every node does it: it reads, and writes
 * where nothing has changed meanwhile, so the first node wins and the others write nothing. A round stores a
 * snapshot, moves the place of all subscriptions up to it, and then brings {@link CursorDispatcher} nearer to this
 * place. Each event is read once, whatever the number of projects and subscriptions.
 */
final class EventDispatcher implements Loop.Task {
    private static final Logger log = LoggerFactory.getLogger(EventDispatcher.class);

    /** How often events are looked for without a hint. */
    private static final Duration POLL = Duration.ofSeconds(1);

    /** Snapshots of this node have at least this distance, so that a steady stream of events needs few of them. */
    private static final long SNAPSHOT_DISTANCE_NANOS = Duration.ofMillis(20).toNanos();

    /** After a pause, this number of snapshots is stored without the distance, so that single events do not wait. */
    private static final int IMMEDIATE_SNAPSHOTS = 250;

    private static final int READ_EVENTS = 5_000;
    private static final int WRITE_EVENTS = 2_000;
    /** The intended number of runs per statement. */
    private static final int WRITE_RUNS = 2_000;

    private static final int MAX_WINDOW_SNAPSHOTS = 256;

    private final EventDispatchStore store;
    private final Uuid7.Sequence runIds;
    private final ClusterSize clusterSize;
    private final LoopReports reports;
    private final CursorDispatcher cursorDispatcher;
    private final Loop loop = new Loop("events", true, this);

    private long windowSnapshots = 1;
    private long lastSnapshot = -1;
    /** How many snapshots may be stored without a pause; one more after each distance. */
    private double immediateSnapshots = IMMEDIATE_SNAPSHOTS;

    private long lastRound = System.nanoTime();
    /** How many events one statement writes, by the number of runs that the previous ones created. */
    private int batch = 16;
    /** Whether another node was moving the place. Then it may not know of the last snapshot. */
    private boolean contended;

    private final ProjectShares shares = new ProjectShares();

    EventDispatcher(EventDispatchStore store, DatabaseClock clock, ClusterSize clusterSize, LoopReports reports) {
        this.store = store;
        this.runIds = new Uuid7.Sequence(clock);
        this.clusterSize = clusterSize;
        this.reports = reports;
        this.cursorDispatcher = new CursorDispatcher(store, runIds, reports);
    }

    /** Returns the thread that repeats this task. */
    Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        long began = System.nanoTime();
        boolean found = dispatch();
        if (!found) {
            // Hints end the pause. Without them, a node where nothing happens polls less often.
            Duration pause = lastSnapshot > 0 ? POLL : POLL.multipliedBy(5);
            loop.sleep(clusterSize.scaledInterval(pause, pause.multipliedBy(10)).toNanos());
            return;
        }
        immediateSnapshots = Math.min(
                IMMEDIATE_SNAPSHOTS, immediateSnapshots + (double) (began - lastRound) / SNAPSHOT_DISTANCE_NANOS);
        lastRound = began;
        if (immediateSnapshots >= 1 && !contended) {
            immediateSnapshots--;
            return;
        }
        boolean woken = false;
        for (long left = SNAPSHOT_DISTANCE_NANOS; left > 0 && loop.isOpen(); )
            if (loop.sleep(left)) {
                woken = true;
                left = began + SNAPSHOT_DISTANCE_NANOS - System.nanoTime();
            } else left = 0;
        if (woken) loop.wake();
    }

    @Override
    public void onFailure(Throwable failure) {
        windowSnapshots = 1;
        batch = 1;
    }

    /** Stores a snapshot and brings all subscriptions up to it. Returns whether there was anything new. */
    boolean dispatch() {
        long latest = store.storeSnapshot();
        boolean found = latest != lastSnapshot;
        lastSnapshot = latest;
        if (found) reports.onEventSnapshot();
        contended = false;
        shares.beginRound();
        Place place = store.place();
        while (loop.isOpen() && place.position().base() < latest && !contended) {
            found = true;
            move(place, latest);
            place = store.place();
        }
        boolean caughtUp = cursorDispatcher.catchUp(place, loop::isOpen);
        return caughtUp || found || contended;
    }

    /** Returns whether subscriptions with a cursor are left for which the last call had no time. */
    boolean isUnfinished() {
        return cursorDispatcher.isUnfinished();
    }

    /** Reads the events of one window, and moves the place behind them. */
    private void move(Place from, long latest) {
        if (!from.wanted()) {
            write(from, List.of(), EventPosition.endOf(latest));
            return;
        }
        long last = Math.min(latest, from.position().base() + windowSnapshots);
        List<Head> read = store.read(new Window(from.position(), last, null), READ_EVENTS);
        boolean full = read.size() == READ_EVENTS;
        if (full) windowSnapshots = Math.max(1, windowSnapshots / 2);
        else if (read.size() < READ_EVENTS / 4) windowSnapshots = Math.min(MAX_WINDOW_SNAPSHOTS, 2 * windowSnapshots);
        EventPosition end = full ? read.get(read.size() - 1).position() : EventPosition.endOf(last);
        Place place = from;
        for (int first = 0; !contended && (first == 0 || first < read.size()); ) {
            int next = Math.min(read.size(), first + batch);
            EventPosition to = next == read.size() ? end : read.get(next - 1).position();
            write(place, read.subList(first, next), to);
            place = new Place(to, place.version(), true, place.shared());
            first = Math.max(1, next);
        }
    }

    private void write(Place from, List<Head> heads, EventPosition to) {
        Optional<List<NewRuns>> created;
        long began = System.nanoTime();
        try {
            created =
                    store.dispatch(from, heads, to, new RunId(runIds.next()), from.shared() ? shares.used() : Set.of());
        } catch (RuntimeException rejected) {
            if (batch > 1 || heads.size() != 1) throw rejected;
            // One row is rejected. Each subscription gets its own cursor, so that the others do not wait for one.
            log.warn(
                    "event not dispatched; its subscriptions are served one by one event={}",
                    heads.get(0).id());
            Set<String> one = Set.of(heads.get(0).project());
            contended = store.dispatch(from, heads, to, new RunId(runIds.next()), one)
                    .isEmpty();
            return;
        }
        if (created.isEmpty()) {
            contended = true;
            return;
        }
        shares.record(heads, created.get(), System.nanoTime() - began);
        if (created.get().isEmpty()) {
            batch = Math.min(WRITE_EVENTS, 2 * batch);
            return;
        }
        long runs = created.get().stream().mapToLong(NewRuns::runs).sum();
        if (runs > 2L * WRITE_RUNS) batch = (int) Math.max(1, (long) batch * WRITE_RUNS / runs);
        else if (runs < WRITE_RUNS) batch = Math.min(WRITE_EVENTS, 2 * batch);
        reports.onEventRuns(created.get());
    }
}
