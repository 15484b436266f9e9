package io.carillon.internal.engine.loop;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a condition until a time limit, or until waiting becomes useless. */
public record BoundedWait(BooleanSupplier giveUpWhen) {
    /** Waits for the full time. */
    public static final BoundedWait FULL_TIME = new BoundedWait(() -> false);

    public void until(BooleanSupplier done, Duration atMost) {
        long start = System.nanoTime();
        while (!done.getAsBoolean() && System.nanoTime() - start < atMost.toNanos() && !giveUpWhen.getAsBoolean())
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
    }
}
