package io.carillon.engine;

import io.carillon.run.Lane;
import io.carillon.schedule.ScheduleListener;
import io.carillon.store.GateName;
import io.carillon.store.GateStore;
import io.carillon.value.DatabaseClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets waiting runs through their gates: when somebody says that a run came or ended there, when a run's time has come, and by looking around now and then,
 * for what a crash left unsaid. Every node does it; the gate's lock lets one at a time.
 */
final class Gatekeeper extends Loop {
    private static final int MOST = 2_000;
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final Duration SWEEP = Duration.ofSeconds(2);
    private static final Duration RAREST = Duration.ofSeconds(20);
    /** The first wait for a gate that is busy; it doubles while the gate stays so. */
    private static final long BUSY_NANOS = 3_000_000L;

    private static final long LONGEST_BUSY_NANOS = 1_000_000_000L;
    /** Looking around takes at most one part in so many of the time. */
    private static final int SHARE = 20;

    private final GateStore gates;
    private final DatabaseClock clock;
    private final Crowd crowd;
    private final Consumer<Lane> opened;
    private final ScheduleListener told;
    private final Set<GateName> knocked = new LinkedHashSet<>();
    /** When to look at a gate that only the time opens, or that was busy. */
    private final Map<GateName, Long> timers = new HashMap<>();
    /** How long the last wait for each gate was that is still busy. */
    private final Map<GateName, Long> busyWaits = new HashMap<>();

    private volatile boolean lookNow = true;
    private volatile boolean anyGate = true;
    private Set<GateName> atWork = Set.of();
    private volatile Instant nextArrival = Instant.MAX;
    private long lastLook = System.nanoTime();
    private long nextSweep = lastLook;
    private @Nullable GateName sweptTo;

    Gatekeeper(GateStore gates, DatabaseClock clock, Crowd crowd, Consumer<Lane> opened, ScheduleListener told) {
        super("gate", true);
        this.gates = gates;
        this.clock = clock;
        this.crowd = crowd;
        this.opened = opened;
        this.told = told;
    }

    /** A run came to this gate, or left it. */
    void knock(GateName gate) {
        add(List.of(gate));
        wake();
    }

    /** A run has ended behind this gate; what time opens does not wait for it. */
    void left(GateName gate) {
        if (!gate.timed()) knock(gate);
    }

    /** A run will come to some gate at this instant. */
    void expect(Instant arrival) {
        if (!arrival.isBefore(nextArrival)) return;
        nextArrival = arrival;
        wake();
    }

    /** The claimer's look saw whether there is a gate at all: while there is none, nobody looks around for what was left unsaid. */
    void seen(boolean gates) {
        boolean news = gates && !anyGate;
        anyGate = gates;
        if (news) lookNow();
    }

    /** Look around, whatever was known. */
    void lookNow() {
        lookNow = true;
        wake();
    }

    private void add(Collection<GateName> more) {
        synchronized (knocked) {
            knocked.addAll(more);
        }
    }

    @Override
    void turn() throws InterruptedException {
        atWork = take();
        // A run of these gates ended or arrived; another node that is busy with the gate may not have seen it.
        busyWaits.keySet().removeAll(atWork);
        atWork.addAll(timed());
        boolean all = lookNow;
        lookNow = false;
        if (all || lookDue()) atWork.addAll(arrived());
        if (all || (anyGate && System.nanoTime() - nextSweep >= 0)) atWork.addAll(sweep());
        waitFor(pass(atWork));
        atWork = Set.of();
        sleep(untilDue());
    }

    /** Looks at busy gates again after a while: another node is at the gate for a moment, but a run there may stay locked for long. */
    private void waitFor(List<GateName> busy) {
        busy.forEach(atWork::remove);
        busyWaits.keySet().removeAll(atWork);
        long now = System.nanoTime();
        for (GateName gate : busy) {
            long wait = busyWaits.merge(gate, BUSY_NANOS, (last, first) -> Math.min(last * 2, LONGEST_BUSY_NANOS));
            timers.merge(gate, now + wait, (one, other) -> one - other < 0 ? one : other);
        }
    }

    /** What was knocked at is not forgotten, and what was left out is looked at. */
    @Override
    void onFailure(Throwable failure) {
        add(atWork);
        atWork = Set.of();
        lookNow = true;
    }

    /** Once around, for whoever has no loop: lets through what can pass now. */
    void lookAround() {
        Set<GateName> all = new LinkedHashSet<>(arrived());
        do all.addAll(sweep());
        while (sweptTo != null);
        pass(all);
    }

    private Set<GateName> take() {
        synchronized (knocked) {
            Set<GateName> mine = new LinkedHashSet<>(knocked);
            knocked.clear();
            return mine;
        }
    }

    /** The gates whose time has come. */
    private Set<GateName> timed() {
        long now = System.nanoTime();
        Set<GateName> due = new LinkedHashSet<>();
        timers.forEach((gate, at) -> {
            if (now - at >= 0) due.add(gate);
        });
        timers.keySet().removeAll(due);
        return due;
    }

    private boolean lookDue() {
        return (anyGate && System.nanoTime() - lastLook >= look().toNanos()) || clock.nanosUntil(nextArrival) <= 0;
    }

    private Duration look() {
        return crowd.stretched(LOOK, RAREST);
    }

    private long untilDue() {
        long now = System.nanoTime();
        long untilTimer =
                timers.values().stream().mapToLong(at -> at - now).min().orElse(Long.MAX_VALUE);
        long untilLook = lastLook + look().toNanos() - now;
        // A hair late rather than early: before the database's clock shows the instant nobody has arrived.
        long untilArrival = clock.nanosUntil(nextArrival) + 200_000L;
        if (!anyGate)
            return Math.max(
                    0,
                    Math.min(
                            Math.min(untilTimer, untilArrival),
                            Duration.ofMinutes(1).toNanos()));
        return Math.max(0, Math.min(Math.min(untilLook, untilArrival), Math.min(untilTimer, nextSweep - now)));
    }

    private List<GateName> arrived() {
        long sent = System.nanoTime();
        GateStore.Arrivals arrivals = gates.arrive(MOST);
        lastLook = System.nanoTime();
        clock.observe(arrivals.now(), sent);
        nextArrival = arrivals.gates().size() < MOST ? arrivals.next() : arrivals.now();
        return arrivals.gates();
    }

    private List<GateName> sweep() {
        long start = System.nanoTime();
        GateStore.Opened seen = gates.open(sweptTo, MOST);
        sweptTo = seen.last();
        long took = System.nanoTime() - start;
        long pause = sweptTo == null ? crowd.stretched(SWEEP, RAREST).toNanos() : 0;
        nextSweep = System.nanoTime() + Math.max(pause, took * SHARE);
        return seen.gates();
    }

    private List<GateName> pass(Collection<GateName> all) {
        if (all.isEmpty()) return List.of();
        GateStore.Passed passed = gates.pass(new ArrayList<>(all));
        passed.lanes().forEach(opened);
        passed.skipped().forEach(told::heard);
        passed.again().forEach((gate, wait) -> timers.put(gate, System.nanoTime() + wait.toNanos()));
        return passed.busy();
    }
}
