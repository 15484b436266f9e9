package io.carillon.cli.answer;

import io.carillon.cli.shell.DurationText;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

/** Instants and durations of the server as text for people: {@code in 12 s}, {@code 3 min ago}, {@code 1.2 s}. */
final class TimeText {
    private static final Pattern INSTANT = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?Z");
    private static final Pattern DURATION = Pattern.compile("-?P(?=.)(\\d+D)?(T(\\d+H)?(\\d+M)?(\\d+(\\.\\d+)?S)?)?");
    /** Instants that are farther away are shown as a date. */
    private static final Duration FAR = Duration.ofDays(60);

    private TimeText() {}

    /** Returns the instant; empty if the text is none. */
    static Optional<Instant> instant(String text) {
        if (!INSTANT.matcher(text).matches()) return Optional.empty();
        try {
            return Optional.of(Instant.parse(text));
        } catch (DateTimeException notOnTheCalendar) {
            return Optional.empty();
        }
    }

    /** Returns the duration in words; empty if the text is none in ISO 8601. */
    static Optional<String> duration(String text) {
        if (!DURATION.matcher(text).matches()) return Optional.empty();
        try {
            Duration length = Duration.parse(text);
            return Optional.of(
                    length.isNegative() ? "-" + DurationText.text(length.negated()) : DurationText.text(length));
        } catch (DateTimeException | ArithmeticException tooLarge) {
            return Optional.empty();
        }
    }

    /** Returns the distance from now in the largest unit; an instant months away is shown as its date. */
    static String relative(Instant at, Instant now) {
        Duration distance = Duration.between(now, at);
        Duration length = distance.abs();
        if (length.compareTo(FAR) > 0) return at.toString().substring(0, 10);
        if (length.toMillis() < 500) return "now";
        String text = rounded((length.toMillis() + 500) / 1_000);
        return distance.isNegative() ? text + " ago" : "in " + text;
    }

    private static String rounded(long seconds) {
        if (seconds < 60) return seconds + " s";
        if (seconds < 3_600) return seconds / 60 + " min";
        if (seconds < 48 * 3_600) return seconds / 3_600 + " h";
        return seconds / 86_400 + " d";
    }
}
