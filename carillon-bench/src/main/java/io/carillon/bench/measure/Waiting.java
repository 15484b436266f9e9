package io.carillon.bench.measure;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits on the monotonic clock. */
public final class Waiting {
    private Waiting() {}

    /** Sleeps. Throws a {@link MeasureException} if the thread is interrupted. */
    public static void sleep(Duration time) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasureException("The measurement was interrupted.", e);
        }
    }

    /** Polls every 2 ms until the condition is true. Returns false if it is not true in time. */
    public static boolean await(BooleanSupplier wanted, Duration atMost) {
        long start = System.nanoTime();
        while (!wanted.getAsBoolean()) {
            if (System.nanoTime() - start > atMost.toNanos()) return false;
            sleep(Duration.ofMillis(2));
        }
        return true;
    }

    /**
     * Like {@link #await}, but throws a {@link MeasureException} if the condition is not true in time.
     *
     * @param what the event that the condition reports, for the message
     */
    public static void require(String what, BooleanSupplier wanted, Duration atMost) {
        if (!await(wanted, atMost))
            throw new MeasureException("%s did not happen within %d s. Check whether the machine is overloaded."
                    .formatted(what, atMost.toSeconds()));
    }

    public static double seconds(long fromNanos, long toNanos) {
        return (toNanos - fromNanos) / 1e9;
    }
}
