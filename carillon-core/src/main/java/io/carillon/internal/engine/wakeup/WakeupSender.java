package io.carillon.internal.engine.wakeup;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.node.Signal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * Notifies other nodes of new work after it was committed. The first signal is sent immediately, then one message for
 * all signals that collect within 5 ms. A NOTIFY in each writing transaction would take a lock that every commit needs.
 */
public final class WakeupSender implements Loop.Task {
    private final Loop loop = new Loop("wakeup-send", true, this);
    private static final long COALESCE_NANOS = 5_000_000L;

    private final String senderId;
    private final Consumer<List<Signal>> send;
    private final Map<Lane, Instant> earliestReady = new LinkedHashMap<>();
    private final List<Signal> otherSignals = new ArrayList<>();

    WakeupSender(String senderId, Consumer<List<Signal>> send) {
        this.senderId = senderId;
        this.send = send;
    }

    /** Announces that a lane has a run ready at this instant; {@link Instant#EPOCH} means now. */
    public void announceWork(Lane lane, Instant readyAt) {
        boolean idle;
        synchronized (earliestReady) {
            idle = earliestReady.isEmpty() && otherSignals.isEmpty();
            earliestReady.merge(lane, readyAt, (a, b) -> a.isBefore(b) ? a : b);
        }
        if (idle) loop.wake();
    }

    public void sendSignal(Signal signal) {
        synchronized (earliestReady) {
            otherSignals.add(signal);
        }
        loop.wake();
    }

    /** Returns the thread that repeats this task. */
    public Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        List<Signal> signals;
        synchronized (earliestReady) {
            signals = new ArrayList<>(otherSignals);
            earliestReady.forEach((lane, at) -> signals.add(
                    new Signal.Work(lane, at, ThreadLocalRandom.current().nextInt(Signal.RANDOM_BOUND), senderId)));
            otherSignals.clear();
            earliestReady.clear();
        }
        if (signals.isEmpty()) {
            loop.sleep(10_000_000_000L);
            return;
        }
        send.accept(signals);
        loop.sleep(COALESCE_NANOS);
    }
}
