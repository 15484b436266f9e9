package io.carillon.bench.report;

import io.carillon.bench.measure.Samples;
import java.util.Locale;

/** Formats figures for people. */
public final class FigureText {
    private FigureText() {}

    /** Returns the median and the range of the rounds, such as {@code 41,200/s (39,800-42,000)}. */
    public static String rate(Samples rounds) {
        return String.format(Locale.ROOT, "%,.0f/s (%,.0f-%,.0f)", rounds.median(), rounds.min(), rounds.max());
    }

    public static String rate(double perSecond) {
        return String.format(Locale.ROOT, "%,.0f/s", perSecond);
    }

    public static String millis(double millis) {
        return String.format(Locale.ROOT, millis < 10 ? "%.1f ms" : "%,.0f ms", millis);
    }

    public static String percent(double part) {
        return String.format(Locale.ROOT, "%.0f %%", part * 100);
    }

    public static String factor(double factor) {
        return String.format(Locale.ROOT, "%.1fx", factor);
    }
}
