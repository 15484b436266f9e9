package io.carillon.internal.engine.loop;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A sleep that other threads can end. A wake-up before the sleep is not lost. */
final class WakeableSleep {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition woken = lock.newCondition();
    private boolean pending;

    /** Ends the current sleep, or the next one if there is none. */
    void wake() {
        lock.lock();
        try {
            pending = true;
            woken.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Sleeps up to the given time. Returns whether a wake-up ended the sleep. */
    boolean sleep(long nanos) throws InterruptedException {
        lock.lock();
        try {
            long left = nanos;
            while (!pending && left > 0) left = woken.awaitNanos(left);
            boolean was = pending;
            pending = false;
            return was;
        } finally {
            lock.unlock();
        }
    }
}
