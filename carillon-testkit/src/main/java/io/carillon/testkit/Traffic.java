package io.carillon.testkit;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** How bytes fare on the way, for all connections of a proxy alike. */
final class Traffic {
    private enum Mode {
        FLOWS,
        SLOW,
        STALLED,
        LOST
    }

    private Mode mode = Mode.FLOWS;
    private Duration delay = Duration.ZERO;

    synchronized void flow() {
        change(Mode.FLOWS);
    }

    synchronized void slow(Duration by) {
        delay = by;
        change(Mode.SLOW);
    }

    synchronized void stall() {
        change(Mode.STALLED);
    }

    synchronized void lose() {
        change(Mode.LOST);
    }

    private synchronized void change(Mode to) {
        mode = to;
        notifyAll();
    }

    synchronized boolean loses() {
        return mode == Mode.LOST;
    }

    /** Holds the caller as long as its bytes are on the way; false: they never arrive. */
    synchronized boolean passage() throws InterruptedException {
        long since = System.nanoTime();
        while (mode == Mode.STALLED || mode == Mode.SLOW) {
            long left = mode == Mode.STALLED ? Long.MAX_VALUE : delay.toNanos() - (System.nanoTime() - since);
            if (left <= 0) return true;
            TimeUnit.NANOSECONDS.timedWait(this, Math.max(left, 1_000_000));
        }
        return mode == Mode.FLOWS;
    }
}
