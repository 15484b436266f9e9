package io.carillon.bench.measure;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waits, on the monotonic clock. */
public final class Pace {
    private Pace() {}

    /** Sleeps; an interrupt ends the measurement. */
    public static void sleep(Duration time) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MeasureException("The measurement was interrupted.", e);
        }
    }

    /** Looks every few milliseconds until it is so; false: it was not in time. */
    public static boolean await(BooleanSupplier wanted, Duration atMost) {
        long start = System.nanoTime();
        while (!wanted.getAsBoolean()) {
            if (System.nanoTime() - start > atMost.toNanos()) return false;
            sleep(Duration.ofMillis(2));
        }
        return true;
    }

    /** The same, but what is not so in time fails the measurement. */
    public static void require(String what, BooleanSupplier wanted, Duration atMost) {
        if (!await(wanted, atMost))
            throw new MeasureException(
                    "%s did not happen within %d s. Is the machine overloaded?".formatted(what, atMost.toSeconds()));
    }

    public static double seconds(long fromNanos, long toNanos) {
        return (toNanos - fromNanos) / 1e9;
    }
}
