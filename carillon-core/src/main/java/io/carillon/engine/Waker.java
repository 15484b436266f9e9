package io.carillon.engine;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A sleep that others can end. A wake that comes before the sleep is not lost. */
final class Waker {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition woken = lock.newCondition();
    private boolean pending;

    /** Ends the current sleep, or the next one before it begins. */
    void wake() {
        lock.lock();
        try {
            pending = true;
            woken.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Sleeps up to this long; true: somebody woke it. */
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
