package io.carillon.cli.answer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** A table of text. Columns are as wide as their content and two spaces apart; the first row is the header. */
final class Table {
    private static final int GAP = 2;
    /** No column is cut below this width. */
    private static final int MIN_COLUMN = 8;
    /** A wrapped column is at least so wide, even if the terminal is narrower. */
    private static final int MIN_WRAPPED = 20;

    private Table() {}

    /**
     * How a table fits a terminal: the widest columns are cut first, and cut text ends with the ellipsis.
     *
     * @param kept the columns that are never cut, because people copy from them
     * @param wrapsLast whether the last column continues on further lines instead
     */
    record Fit(int width, Set<Integer> kept, boolean wrapsLast, String ellipsis) {
        static final Fit NONE = new Fit(Integer.MAX_VALUE, Set.of(), false, "");
    }

    static String text(List<List<String>> rows, Fit fit) {
        int columns = rows.stream().mapToInt(List::size).max().orElse(0);
        int[] widths = new int[columns];
        for (List<String> row : rows)
            for (int i = 0; i < row.size(); i++)
                widths[i] = Math.max(widths[i], row.get(i).length());
        cutWidest(widths, fit);
        return rows.stream().map(row -> line(row, widths, fit)).collect(Collectors.joining("\n"));
    }

    private static void cutWidest(int[] widths, Fit fit) {
        long total = Arrays.stream(widths).asLongStream().sum() + (long) GAP * (widths.length - 1);
        int last = widths.length - 1;
        if (fit.wrapsLast && total > fit.width) {
            widths[last] = (int) Math.max(MIN_WRAPPED, widths[last] - (total - fit.width));
            return;
        }
        while (total > fit.width) {
            int widest = -1;
            for (int i = 0; i < widths.length; i++)
                if (!fit.kept.contains(i) && widths[i] > MIN_COLUMN && (widest < 0 || widths[i] > widths[widest]))
                    widest = i;
            if (widest < 0) return;
            widths[widest]--;
            total--;
        }
    }

    private static String line(List<String> row, int[] widths, Fit fit) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < row.size(); i++) {
            if (i > 0) line.append(" ".repeat(GAP));
            boolean isLast = i == row.size() - 1;
            if (isLast && fit.wrapsLast)
                return line.append(String.join("\n" + " ".repeat(line.length()), wrap(row.get(i), widths[i])))
                        .toString();
            String cell = cut(row.get(i), widths[i], fit.ellipsis);
            line.append(cell);
            if (!isLast) line.append(" ".repeat(widths[i] - cell.length()));
        }
        return line.toString();
    }

    /** Returns the lines of the text, broken at spaces; a longer word has a line of its own. */
    static List<String> wrap(String text, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (line.length() > 0 && line.length() + 1 + word.length() > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.length() > 0 ? " " : "").append(word);
        }
        lines.add(line.toString());
        return lines;
    }

    /** Returns the text, or as much of it as fits, with the ellipsis at the end. */
    static String cut(String text, int width, String ellipsis) {
        if (text.length() <= width) return text;
        int end = Math.max(0, width - ellipsis.length());
        // Half of a surrogate pair is not a character.
        if (end > 0 && Character.isHighSurrogate(text.charAt(end - 1))) end--;
        return text.substring(0, end) + ellipsis;
    }
}
