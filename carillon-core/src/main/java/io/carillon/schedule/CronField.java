package io.carillon.schedule;

/**
 * One field as bit sets.
 *
 * @param values bit v is set where the plain value v matches; Sunday is bit 0
 * @param last day: bit n is {@code L-n}; weekday: bit d is {@code dL}
 * @param nearest day: bit n is {@code nW}, and {@link #LAST_WEEKDAY} is {@code LW}
 * @param nth weekday: bit {@code 8 k + d} is {@code d#k}
 * @param star whether the field was written with a star in front, which decides the day rule and the daylight-saving rule
 */
record CronField(CronUnit unit, long values, long last, long nearest, long nth, boolean star) {
    static final long LAST_WEEKDAY = 1L << 32;

    static CronField of(CronUnit unit, long values) {
        return new CronField(unit, values, 0, 0, 0, false);
    }

    static boolean isSet(long bits, int bit) {
        return ((bits >>> bit) & 1) != 0;
    }

    boolean has(int value) {
        return isSet(values, value);
    }

    /** Whether every value of the unit matches, however it was written. */
    boolean isFull() {
        int max = unit == CronUnit.WEEKDAY ? 6 : unit.max();
        return Long.bitCount(values) == max - unit.min() + 1;
    }
}
