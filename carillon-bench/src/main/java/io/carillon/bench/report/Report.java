package io.carillon.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;

/** The report of a benchmark in one of several formats. */
public final class Report {
    private static final List<String> HEAD = List.of("workload", "row", "bar", "measured", "met", "note");

    /** The formats of a report. */
    public enum Form {
        TABLE,
        MARKDOWN,
        JSON
    }

    private final List<Result> results;

    public Report(List<Result> results) {
        this.results = List.copyOf(results);
    }

    public String text(Form form) {
        if (form == Form.JSON)
            return JsonMapper.builder().build().writerWithDefaultPrettyPrinter().writeValueAsString(results) + "\n";
        return form == Form.MARKDOWN ? markdown() : table();
    }

    /** Returns whether every bar was met. */
    public boolean allMet() {
        return results.stream()
                .flatMap(result -> result.rows().stream())
                .noneMatch(row -> Boolean.FALSE.equals(row.met()));
    }

    private String table() {
        List<List<String>> lines = new ArrayList<>(List.of(HEAD));
        lines.addAll(cells());
        int[] widths = IntStream.range(0, HEAD.size() - 1)
                .map(column -> lines.stream()
                        .mapToInt(line -> line.get(column).length())
                        .max()
                        .orElse(0))
                .toArray();
        StringBuilder text = new StringBuilder();
        for (List<String> line : lines) {
            StringBuilder shown = new StringBuilder();
            for (int i = 0; i < widths.length; i++)
                shown.append(line.get(i))
                        .append(" ".repeat(widths[i] - line.get(i).length() + 2));
            text.append((shown + line.get(widths.length)).stripTrailing()).append('\n');
        }
        return text.toString();
    }

    private String markdown() {
        StringBuilder text = new StringBuilder("| " + String.join(" | ", HEAD) + " |\n");
        text.append("|---".repeat(HEAD.size())).append("|\n");
        for (List<String> line : cells())
            text.append("| ")
                    .append(String.join(
                            " | ",
                            line.stream().map(cell -> cell.replace("|", "\\|")).toList()))
                    .append(" |\n");
        return text.toString();
    }

    private List<List<String>> cells() {
        List<List<String>> cells = new ArrayList<>();
        for (Result result : results)
            for (Row row : result.rows())
                cells.add(List.of(result.workload(), row.name(), row.bar(), row.measured(), row.verdict(), row.note()));
        return cells;
    }
}
