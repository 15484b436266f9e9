package io.carillon.cli.dev;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The wish to stop, from a signal or a key. A signal is passed on to the one thread that started everything, which closes everything in order; meanwhile the
 * JVM waits, and then ends with the exit code of that thread instead of the signal's.
 */
final class Stop {
    private static final long PATIENCE_SECONDS = 60;

    private final Thread owner;
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch done = new CountDownLatch(1);
    private boolean starting = true;
    private volatile int exitCode;

    private Stop(Thread owner) {
        this.owner = owner;
    }

    /** For the calling thread, from now on. */
    static Stop forThisThread() {
        Stop stop = new Stop(Thread.currentThread());
        Runtime.getRuntime().addShutdownHook(new Thread(stop::bySignal, "carillon-dev-stop"));
        return stop;
    }

    private void bySignal() {
        if (done.getCount() == 0) return;
        ask();
        interruptTheStart();
        try {
            if (done.await(PATIENCE_SECONDS, TimeUnit.SECONDS))
                Runtime.getRuntime().halt(exitCode);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Later on an interrupt would hit the orderly end. */
    private synchronized void interruptTheStart() {
        if (starting) owner.interrupt();
    }

    /** Everything runs; from here on {@link #await} is the only place that is woken. */
    synchronized void started() {
        starting = false;
    }

    void ask() {
        asked.countDown();
    }

    boolean asked() {
        return asked.getCount() == 0;
    }

    void await() {
        try {
            asked.await();
        } catch (InterruptedException e) {
            // Asked in the last moment of the start.
            asked.countDown();
        }
    }

    /** Everything is closed. */
    void done(int code) {
        started();
        exitCode = code;
        done.countDown();
    }
}
