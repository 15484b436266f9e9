package io.carillon;

import java.util.Random;
import java.util.function.Consumer;

/** Checks a property with random input. Prints the seed; {@code -Dcarillon.seed=…} repeats a run. */
public final class RandomTrials {
    private RandomTrials() {}

    /** Runs the given number of trials, each with its own random source. A failure names the seed of the trial. */
    public static void run(String property, int times, Consumer<Random> trial) {
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
