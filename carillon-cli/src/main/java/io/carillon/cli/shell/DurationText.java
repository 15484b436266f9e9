package io.carillon.cli.shell;

import java.time.Duration;
import java.util.Locale;

/**
 * Durations as text for people: {@code 12 ms}, {@code 1.2 s}, {@code 2 min 5 s}, {@code 3 h 4 min}, {@code 2 d 1 h}.
 */
public final class DurationText {
    private DurationText() {}

    /** Returns the text of a duration. A negative duration is shown as {@code 0 ms}. */
    public static String text(Duration length) {
        long millis = Math.max(0, length.toMillis());
        if (millis < 1_000) return millis + " ms";
        if (millis < 59_950) return tenths(millis);
        return coarse(Duration.ofSeconds((millis + 500) / 1_000));
    }

    /** Returns the text in whole seconds, rounded up, for a countdown. */
    public static String countdown(Duration left) {
        long millis = Math.max(0, left.toMillis());
        long seconds = (millis + 999) / 1_000;
        return seconds < 60 ? seconds + " s" : coarse(Duration.ofSeconds(seconds));
    }

    private static String tenths(long millis) {
        long tenths = (millis + 50) / 100;
        return tenths % 10 == 0 ? tenths / 10 + " s" : String.format(Locale.ROOT, "%d.%d s", tenths / 10, tenths % 10);
    }

    private static String coarse(Duration length) {
        if (length.toMinutes() < 60) return twoUnits(length.toMinutes(), "min", length.toSecondsPart(), "s");
        if (length.toHours() < 24) return twoUnits(length.toHours(), "h", length.toMinutesPart(), "min");
        return twoUnits(length.toDays(), "d", length.toHoursPart(), "h");
    }

    private static String twoUnits(long large, String unit, long small, String smallUnit) {
        return small == 0 ? large + " " + unit : large + " " + unit + " " + small + " " + smallUnit;
    }
}
