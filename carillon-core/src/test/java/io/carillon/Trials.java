package io.carillon;

import java.util.Random;
import java.util.function.Consumer;

/** Holds a property against random input. The seed is printed, and {@code -Dcarillon.seed=…} repeats it. */
public final class Trials {
    private Trials() {}

    /** So many trials, each with a random source of its own; a failure names the trial's seed. */
    public static void of(String property, int times, Consumer<Random> trial) {
        Long given = Long.getLong("carillon.seed");
        long seed = given == null ? new Random().nextLong() : given;
        System.out.printf("property '%s': seed %d%n", property, seed);
        for (int i = 0; i < times; i++) {
            try {
                trial.accept(new Random(seed + i));
            } catch (RuntimeException | Error failure) {
                throw new AssertionError(
                        "'%s' fails; repeat it with -Dcarillon.seed=%d".formatted(property, seed + i), failure);
            }
        }
    }
}
