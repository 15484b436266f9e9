package io.carillon.cli.screen;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The size of a terminal in characters. */
public record Size(int columns, int rows) {
    /** What a terminal has that does not say. */
    static final Size USUAL = new Size(80, 24);

    private static final Pattern STTY = Pattern.compile("\\s*(\\d{1,4}) (\\d{1,4})\\s*");

    /** Reads what {@code stty size} says: rows, then columns. */
    static Size parse(String text) {
        Matcher numbers = STTY.matcher(text);
        if (!numbers.matches()) return USUAL;
        int rows = Integer.parseInt(numbers.group(1));
        int columns = Integer.parseInt(numbers.group(2));
        return rows == 0 || columns == 0 ? USUAL : new Size(columns, rows);
    }
}
