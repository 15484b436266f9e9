package io.carillon.testkit.internal.proxy;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The state of the simulated network, shared by all connections of a proxy. */
public final class NetworkConditions {
    private enum Mode {
        NORMAL,
        DELAYED,
        STALLED,
        DROPPED
    }

    private Mode mode = Mode.NORMAL;
    private Duration delay = Duration.ZERO;

    public synchronized void restore() {
        change(Mode.NORMAL);
    }

    public synchronized void delay(Duration by) {
        delay = by;
        change(Mode.DELAYED);
    }

    public synchronized void stall() {
        change(Mode.STALLED);
    }

    public synchronized void drop() {
        change(Mode.DROPPED);
    }

    private synchronized void change(Mode to) {
        mode = to;
        notifyAll();
    }

    public synchronized boolean dropsBytes() {
        return mode == Mode.DROPPED;
    }

    /** Waits until bytes may be delivered; returns false if they are dropped. */
    public synchronized boolean awaitDelivery() throws InterruptedException {
        long since = System.nanoTime();
        while (mode == Mode.STALLED || mode == Mode.DELAYED) {
            long left = mode == Mode.STALLED ? Long.MAX_VALUE : delay.toNanos() - (System.nanoTime() - since);
            if (left <= 0) return true;
            TimeUnit.NANOSECONDS.timedWait(this, Math.max(left, 1_000_000));
        }
        return mode == Mode.NORMAL;
    }
}
