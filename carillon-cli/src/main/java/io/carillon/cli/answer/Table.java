package io.carillon.cli.answer;

import java.util.List;
import java.util.stream.Collectors;

/** A table of text. Columns are as wide as their content and two spaces apart. */
final class Table {
    private Table() {}

    static String text(List<List<String>> rows) {
        int columns = rows.stream().mapToInt(List::size).max().orElse(0);
        int[] widths = new int[columns];
        for (List<String> row : rows)
            for (int i = 0; i < row.size(); i++)
                widths[i] = Math.max(widths[i], row.get(i).length());
        return rows.stream().map(row -> line(row, widths)).collect(Collectors.joining("\n"));
    }

    private static String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < row.size(); i++) {
            if (i > 0) line.append("  ");
            line.append(row.get(i));
            if (i < row.size() - 1)
                line.append(" ".repeat(widths[i] - row.get(i).length()));
        }
        return line.toString();
    }
}
