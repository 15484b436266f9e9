package io.carillon.cli.screen;

import java.util.Map;
import java.util.stream.Stream;

/** How text is rendered: with or without colors, with Unicode symbols or in ASCII only. */
public record RenderOptions(boolean colours, boolean unicode) {
    /** No colors, ASCII only. */
    public static final RenderOptions PLAIN_ASCII = new RenderOptions(false, false);

    /**
     * Returns the options for an environment: colors unless {@code NO_COLOR} is set and not empty, Unicode if the
     * locale uses UTF-8.
     */
    public static RenderOptions of(Map<String, String> environment) {
        boolean colours = environment.getOrDefault("NO_COLOR", "").isEmpty();
        boolean unicode = Stream.of("LC_ALL", "LC_CTYPE", "LANG")
                .map(name -> environment.getOrDefault(name, ""))
                .filter(value -> !value.isEmpty())
                .findFirst()
                .filter(value -> value.matches("(?i).*utf-?8.*"))
                .isPresent();
        return new RenderOptions(colours, unicode);
    }

    /** Returns the Unicode symbol, or its replacement if only ASCII is allowed. */
    public String symbol(String unicodeSymbol, String ascii) {
        return unicode ? unicodeSymbol : ascii;
    }

    /**
     * Returns a progress bar.
     *
     * @param columns the width of the bar
     * @param fraction the progress from 0 to 1
     */
    public String bar(int columns, double fraction) {
        int filled = (int) Math.round(Math.max(0, Math.min(1, fraction)) * columns);
        return symbol("█", "#").repeat(filled) + symbol("░", ".").repeat(columns - filled);
    }
}
