package io.carillon.engine;

import io.carillon.run.Lane;
import io.carillon.store.Signal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * Tells other nodes of new work after it committed, coalesced: the first signal goes out at once, then one message for all that gathered in 5 ms. NOTIFY in
 * each writing transaction would take a lock that every commit meets.
 */
final class Announcer extends Loop {
    private static final long GATHER_NANOS = 5_000_000L;

    private final String me;
    private final Consumer<List<Signal>> send;
    private final Map<Lane, Instant> work = new LinkedHashMap<>();
    private final List<Signal> others = new ArrayList<>();

    Announcer(String me, Consumer<List<Signal>> send) {
        super("announce", true);
        this.me = me;
        this.send = send;
    }

    /** A lane has a run ready at this instant; {@link Instant#EPOCH} means now. */
    void work(Lane lane, Instant readyAt) {
        boolean idle;
        synchronized (work) {
            idle = work.isEmpty() && others.isEmpty();
            work.merge(lane, readyAt, (a, b) -> a.isBefore(b) ? a : b);
        }
        if (idle) wake();
    }

    void signal(Signal signal) {
        synchronized (work) {
            others.add(signal);
        }
        wake();
    }

    @Override
    void turn() throws InterruptedException {
        List<Signal> signals;
        synchronized (work) {
            signals = new ArrayList<>(others);
            work.forEach((lane, at) -> signals.add(
                    new Signal.Work(lane, at, ThreadLocalRandom.current().nextInt(Signal.LOTS), me)));
            others.clear();
            work.clear();
        }
        if (signals.isEmpty()) {
            sleep(10_000_000_000L);
            return;
        }
        send.accept(signals);
        sleep(GATHER_NANOS);
    }
}
