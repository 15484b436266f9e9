package io.carillon.bench.workload;

/** How thorough: a smoke test of the benchmark itself, the whole table in twenty minutes, or with the rows of ten minutes each. */
public enum Profile {
    SMOKE,
    QUICK,
    FULL;

    /** The size for this profile. */
    public int pick(int smoke, int quick, int full) {
        return this == SMOKE ? smoke : this == QUICK ? quick : full;
    }

    public String text() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
