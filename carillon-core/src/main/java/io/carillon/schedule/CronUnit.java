package io.carillon.schedule;

/** The six fields of a cron expression: their range and their names. */
enum CronUnit {
    SECOND("second", 0, 59, "", "once a minute"),
    MINUTE("minute", 0, 59, "", "once an hour"),
    HOUR("hour", 0, 23, "", "once a day"),
    DAY("day", 1, 31, "", "once a month"),
    MONTH("month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", "once a year"),
    /** Both 0 and 7 are Sunday; bit sets hold it as 0. */
    WEEKDAY("weekday", 0, 7, "SUNMONTUEWEDTHUFRISAT", "once a week");

    private final String label;
    private final int min;
    private final int max;
    private final String names;
    private final String once;

    CronUnit(String label, int min, int max, String names, String once) {
        this.label = label;
        this.min = min;
        this.max = max;
        this.names = names;
        this.once = once;
    }

    /** How often one value of the field comes round. */
    String once() {
        return once;
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

    /** The value of the three ASCII letters at the given place, in any case, or -1. No locale has a say in it. */
    int valueOf(String text, int from) {
        for (int at = 0; at < names.length(); at += 3) {
            if (names.regionMatches(true, at, text, from, 3)) {
                return at / 3 + min;
            }
        }
        return -1;
    }

    /** The three-letter name of a value; only for units that have names. */
    String name(int value) {
        int at = (value - min) * 3;
        return names.substring(at, at + 3);
    }

    /** What may be written, as a part of advice. */
    String range() {
        String numbers = min + "-" + max;
        return names.isEmpty()
                ? numbers
                : numbers + " or " + names.substring(0, 3) + "-" + names.substring(names.length() - 3);
    }
}
