package io.carillon.internal.engine.wakeup;

import io.carillon.internal.engine.loop.Loop;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.node.Hint;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * Notifies other nodes of new work after it was committed. The first hint is sent immediately, then one message for
 * all hints that collect within 5 ms. A NOTIFY in each writing transaction would take a lock that every commit needs.
 */
public final class WakeupSender implements Loop.Task {
    private final Loop loop = new Loop("wakeup-send", true, this);
    private static final long COALESCE_NANOS = 5_000_000L;

    private final String senderId;
    private final Consumer<List<Hint>> send;
    private final Map<Lane, Instant> earliestReady = new LinkedHashMap<>();
    private final List<Hint> otherHints = new ArrayList<>();

    WakeupSender(String senderId, Consumer<List<Hint>> send) {
        this.senderId = senderId;
        this.send = send;
    }

    /** Announces that a lane has a run ready at this instant; {@link Instant#EPOCH} means now. */
    public void announceWork(Lane lane, Instant readyAt) {
        boolean idle;
        synchronized (earliestReady) {
            idle = earliestReady.isEmpty() && otherHints.isEmpty();
            earliestReady.merge(lane, readyAt, (a, b) -> a.isBefore(b) ? a : b);
        }
        if (idle) loop.wake();
    }

    public void sendHint(Hint hint) {
        synchronized (earliestReady) {
            otherHints.add(hint);
        }
        loop.wake();
    }

    /** Returns the thread that repeats this task. */
    public Loop loop() {
        return loop;
    }

    @Override
    public void runRound() throws InterruptedException {
        List<Hint> hints;
        synchronized (earliestReady) {
            hints = new ArrayList<>(otherHints);
            earliestReady.forEach((lane, at) -> hints.add(
                    new Hint.Work(lane, at, ThreadLocalRandom.current().nextInt(Hint.RANDOM_BOUND), senderId)));
            otherHints.clear();
            earliestReady.clear();
        }
        if (hints.isEmpty()) {
            loop.sleep(10_000_000_000L);
            return;
        }
        send.accept(hints);
        loop.sleep(COALESCE_NANOS);
    }
}
