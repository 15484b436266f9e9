package io.carillon.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for something, unless it is or becomes hopeless. */
record Wait(BooleanSupplier hopeless) {
    /** Never gives up before the time is over. */
    static final Wait PATIENTLY = new Wait(() -> false);

    void until(BooleanSupplier done, Duration atMost) {
        long start = System.nanoTime();
        while (!done.getAsBoolean() && System.nanoTime() - start < atMost.toNanos() && !hopeless.getAsBoolean())
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
    }
}
