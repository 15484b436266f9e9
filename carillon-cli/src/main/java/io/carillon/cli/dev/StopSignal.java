package io.carillon.cli.dev;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A request to stop, from a signal or a key. A signal is passed on to the thread that started the node, which
 * closes everything in order. The JVM waits for that thread and exits with its exit code instead of the exit code
 * of the signal.
 */
final class StopSignal {
    private static final long MAX_WAIT_SECONDS = 60;

    private final Thread owner;
    private final CountDownLatch requested = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private boolean starting = true;
    private volatile int exitCode;

    private StopSignal(Thread owner) {
        this.owner = owner;
    }

    /** Creates the stop signal of the calling thread and installs a shutdown hook. */
    static StopSignal forThisThread() {
        StopSignal stopSignal = new StopSignal(Thread.currentThread());
        Runtime.getRuntime().addShutdownHook(new Thread(stopSignal::onSignal, "carillon-dev-stop"));
        return stopSignal;
    }

    private void onSignal() {
        if (closed.getCount() == 0) return;
        request();
        interruptStart();
        try {
            if (closed.await(MAX_WAIT_SECONDS, TimeUnit.SECONDS))
                Runtime.getRuntime().halt(exitCode);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Interrupts the start. Later, an interrupt would disturb the orderly shutdown. */
    private synchronized void interruptStart() {
        if (starting) owner.interrupt();
    }

    /** Marks the start as complete. From then on a signal wakes only {@link #await}. */
    synchronized void started() {
        starting = false;
    }

    void request() {
        requested.countDown();
    }

    boolean isRequested() {
        return requested.getCount() == 0;
    }

    void await() {
        try {
            requested.await();
        } catch (InterruptedException e) {
            // The signal arrived at the end of the start.
            requested.countDown();
        }
    }

    /** Records that everything is closed, with the exit code of the process. */
    void markClosed(int code) {
        started();
        exitCode = code;
        closed.countDown();
    }
}
