package io.carillon.bench.measure;

/**
 * The size of a benchmark: a smoke test of the benchmark itself, the whole table in 20 minutes, or all measurements at
 * full length.
 */
public enum Profile {
    SMOKE,
    QUICK,
    FULL;

    /** Returns the value for this profile. */
    public int choose(int smoke, int quick, int full) {
        return this == SMOKE ? smoke : this == QUICK ? quick : full;
    }

    public String text() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
