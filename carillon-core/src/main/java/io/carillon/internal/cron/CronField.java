package io.carillon.internal.cron;

/**
 * A parsed field as bit sets.
 *
 * @param values bit v is set if the plain value v matches; Sunday is bit 0
 * @param last day: bit n stands for {@code L-n}; weekday: bit d stands for {@code dL}
 * @param nearest day: bit n stands for {@code nW}, {@link #LAST_WEEKDAY} for {@code LW}
 * @param nth weekday: bit {@code 8 k + d} stands for {@code d#k}
 * @param startsWithStar whether the field starts with a star, which decides the day rule and the daylight saving rule
 */
public record CronField(CronUnit unit, long values, long last, long nearest, long nth, boolean startsWithStar) {
    static final long LAST_WEEKDAY = 1L << 32;

    static CronField of(CronUnit unit, long values) {
        return new CronField(unit, values, 0, 0, 0, false);
    }

    public static boolean isSet(long bits, int bit) {
        return ((bits >>> bit) & 1) != 0;
    }

    boolean has(int value) {
        return isSet(values, value);
    }

    /** Returns whether every value of the unit matches, independent of the notation. */
    boolean isFull() {
        int max = unit == CronUnit.WEEKDAY ? 6 : unit.max();
        return Long.bitCount(values) == max - unit.min() + 1;
    }
}
