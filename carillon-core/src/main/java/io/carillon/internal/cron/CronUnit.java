package io.carillon.internal.cron;

/** The six fields of a cron expression with their ranges and value names. */
enum CronUnit {
    SECOND("second", 0, 59, "", "once a minute"),
    MINUTE("minute", 0, 59, "", "once an hour"),
    HOUR("hour", 0, 23, "", "once a day"),
    DAY("day", 1, 31, "", "once a month"),
    MONTH("month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", "once a year"),
    /** Both 0 and 7 are Sunday; bit sets contain it as 0. */
    WEEKDAY("weekday", 0, 7, "SUNMONTUEWEDTHUFRISAT", "once a week");

    private final String label;
    private final int min;
    private final int max;
    private final String names;
    private final String onceDescription;

    CronUnit(String label, int min, int max, String names, String onceDescription) {
        this.label = label;
        this.min = min;
        this.max = max;
        this.names = names;
        this.onceDescription = onceDescription;
    }

    /** Returns how often a field with a single value matches. */
    String onceDescription() {
        return onceDescription;
    }

    String label() {
        return label;
    }

    int min() {
        return min;
    }

    int max() {
        return max;
    }

    boolean isDay() {
        return this == DAY || this == WEEKDAY;
    }

    /**
     * Returns the value for the three ASCII letters at the given position, in any case and in every locale; -1 if there
     * is none.
     */
    int valueOf(String text, int from) {
        for (int at = 0; at < names.length(); at += 3) {
            if (names.regionMatches(true, at, text, from, 3)) {
                return at / 3 + min;
            }
        }
        return -1;
    }

    /** Returns the three-letter name of a value. Only for units that have names. */
    String name(int value) {
        int at = (value - min) * 3;
        return names.substring(at, at + 3);
    }

    /** Returns the allowed values, as part of an advice. */
    String range() {
        String numbers = min + "-" + max;
        return names.isEmpty()
                ? numbers
                : numbers + " or " + names.substring(0, 3) + "-" + names.substring(names.length() - 3);
    }
}
