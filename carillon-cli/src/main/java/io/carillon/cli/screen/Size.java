package io.carillon.cli.screen;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The size of a terminal in characters. */
public record Size(int columns, int rows) {
    /** The size of a terminal that does not report its size. */
    static final Size DEFAULT = new Size(80, 24);

    private static final Pattern STTY = Pattern.compile("\\s*(\\d{1,4}) (\\d{1,4})\\s*");

    /** Parses the output of {@code stty size}: rows, then columns. */
    static Size parse(String text) {
        Matcher numbers = STTY.matcher(text);
        if (!numbers.matches()) return DEFAULT;
        int rows = Integer.parseInt(numbers.group(1));
        int columns = Integer.parseInt(numbers.group(2));
        return rows == 0 || columns == 0 ? DEFAULT : new Size(columns, rows);
    }
}
