package io.carillon.internal.value;

import java.time.DateTimeException;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses durations such as {@code 90s}, {@code 15m}, {@code 2h}, {@code 1d} and {@code 200ms}, and ISO 8601. */
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
