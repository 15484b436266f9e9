package io.carillon.cli.screen;

import java.util.Map;
import java.util.stream.Stream;

/** What a terminal is asked to show: colours or none, signs of Unicode or ASCII alone. */
public record Look(boolean colours, boolean unicode) {
    /** Text and nothing else. */
    public static final Look BARE = new Look(false, false);

    /** Colours unless {@code NO_COLOR} is set to anything; Unicode where the locale has it. */
    public static Look of(Map<String, String> environment) {
        boolean colours = environment.getOrDefault("NO_COLOR", "").isEmpty();
        boolean unicode = Stream.of("LC_ALL", "LC_CTYPE", "LANG")
                .map(name -> environment.getOrDefault(name, ""))
                .filter(value -> !value.isEmpty())
                .findFirst()
                .filter(value -> value.matches("(?i).*utf-?8.*"))
                .isPresent();
        return new Look(colours, unicode);
    }

    /** The sign where the terminal has it, else its stand-in. */
    public String sign(String unicodeSign, String ascii) {
        return unicode ? unicodeSign : ascii;
    }

    /** A bar of so many columns, filled in proportion; a part between 0 and 1. */
    public String bar(int columns, double part) {
        int filled = (int) Math.round(Math.max(0, Math.min(1, part)) * columns);
        return sign("█", "#").repeat(filled) + sign("░", ".").repeat(columns - filled);
    }
}
