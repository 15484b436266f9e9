package io.carillon.bench.workload;

import io.carillon.bench.measure.Samples;
import java.util.Locale;

/** Formats figures for people. */
final class FigureText {
    private FigureText() {}

    /** Returns the median and the range of the rounds, such as {@code 41,200/s (39,800-42,000)}. */
    static String rate(Samples rounds) {
        return String.format(Locale.ROOT, "%,.0f/s (%,.0f-%,.0f)", rounds.median(), rounds.min(), rounds.max());
    }

    static String rate(double perSecond) {
        return String.format(Locale.ROOT, "%,.0f/s", perSecond);
    }

    static String millis(double millis) {
        return String.format(Locale.ROOT, millis < 10 ? "%.1f ms" : "%,.0f ms", millis);
    }

    static String percent(double part) {
        return String.format(Locale.ROOT, "%.0f %%", part * 100);
    }

    static String factor(double factor) {
        return String.format(Locale.ROOT, "%.1fx", factor);
    }
}
