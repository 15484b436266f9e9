package io.carillon.internal.value;

import java.time.DateTimeException;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as text. Parses {@code 90s}, {@code 15m}, {@code 2h}, {@code 1d}, {@code 200ms} and ISO 8601, and writes
 * durations in words.
 */
public final class Durations {
    private static final Pattern BRIEF = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

    private Durations() {}

    /** Returns the duration, or empty if the text is not a duration. */
    public static Optional<Duration> parse(String text) {
        Matcher brief = BRIEF.matcher(text);
        if (brief.matches()) return Optional.of(brief(Long.parseLong(brief.group(1)), brief.group(2)));
        try {
            return Optional.of(Duration.parse(text));
        } catch (DateTimeException | ArithmeticException other) {
            return Optional.empty();
        }
    }

    /** Returns the duration in the largest unit without a fraction, such as {@code 1 minute} or {@code 90 seconds}. */
    public static String describe(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 1_000 != 0 || millis == 0) return millis + " ms";
        long seconds = millis / 1_000;
        if (seconds % 86_400 == 0) return amount(seconds / 86_400, "day");
        if (seconds % 3_600 == 0) return amount(seconds / 3_600, "hour");
        return seconds % 60 == 0 ? amount(seconds / 60, "minute") : amount(seconds, "second");
    }

    private static String amount(long amount, String unit) {
        return amount + " " + unit + (amount == 1 ? "" : "s");
    }

    private static Duration brief(long amount, String unit) {
        return switch (unit) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            case "m" -> Duration.ofMinutes(amount);
            case "h" -> Duration.ofHours(amount);
            default -> Duration.ofDays(amount);
        };
    }
}
