package io.carillon.cli.answer;

import io.carillon.cli.screen.RenderOptions;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * Schedules on one time axis: a bar for each run from its start to its end, a mark for each instant without a run and
 * for each instant to come. A column stands for a part of the time; of several entries in it, the one that deserves
 * most attention is drawn.
 */
public final class TimelineChart {
    private static final int MAX_NAME = 32;
    private static final int MIN_COLUMNS = 24;
    private static final List<Duration> STEPS = Stream.of(
                    1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800,
                    604_800)
            .map(seconds -> Duration.ofSeconds(seconds))
            .toList();
    /** The number of instants per schedule in each direction that the server returns. */
    private static final int MAX_ENTRIES = 200;

    /** What is drawn in a column, in the order of attention. */
    private enum Mark {
        NONE(" ", " ", ""),
        HIDDEN("┄", "~", "earlier instants are not shown: give a shorter range, such as --around 10m"),
        COMING("·", ".", "to come"),
        WAITING("○", "o", "waiting"),
        SUCCEEDED("█", "#", "succeeded"),
        SKIPPED("╌", "-", "skipped, missed or cancelled"),
        RUNNING("▶", ">", "running"),
        DEAD("✗", "x", "dead or quarantined");

        private final String unicode;
        private final String ascii;
        private final String meaning;

        Mark(String unicode, String ascii, String meaning) {
            this.unicode = unicode;
            this.ascii = ascii;
            this.meaning = meaning;
        }

        static Mark of(String state) {
            return switch (state) {
                case "succeeded" -> SUCCEEDED;
                case "running" -> RUNNING;
                case "waiting" -> WAITING;
                case "dead", "quarantined" -> DEAD;
                default -> SKIPPED;
            };
        }
    }

    private final Instant from;
    private final Instant to;
    private final Instant now;
    private final RenderOptions renderOptions;
    private final int nameWidth;
    private final int columns;
    private final Set<Mark> used = EnumSet.noneOf(Mark.class);

    private TimelineChart(List<JsonNode> rows, Range range, int width, RenderOptions renderOptions) {
        this.from = range.from;
        this.to = range.to;
        this.now = range.now;
        this.renderOptions = renderOptions;
        int longest = rows.stream().mapToInt(row -> name(row).length()).max().orElse(0);
        this.nameWidth = Math.min(longest, MAX_NAME);
        this.columns = Math.max(MIN_COLUMNS, width - nameWidth - 2);
    }

    /** The time axis, and the present on it. */
    public record Range(Instant from, Instant now, Instant to) {}

    public static String draw(List<JsonNode> rows, Range range, int width, RenderOptions renderOptions) {
        TimelineChart chart = new TimelineChart(rows, range, width, renderOptions);
        List<String> lines = new ArrayList<>();
        lines.add(chart.axis());
        for (JsonNode row : rows) lines.add(chart.line(row));
        lines.add("");
        lines.addAll(chart.legend(width));
        return String.join("\n", lines);
    }

    private static String name(JsonNode row) {
        return row.path("schedule").stringValue("");
    }

    /** Returns the lines that explain the marks in use. */
    private List<String> legend(int width) {
        List<String> parts = new ArrayList<>();
        parts.add("times in UTC");
        if (!now.isBefore(from) && !now.isAfter(to)) parts.add("| now");
        for (Mark mark : used) if (mark != Mark.NONE) parts.add(symbol(mark) + " " + mark.meaning);
        List<String> lines = new ArrayList<>();
        for (String part : parts) {
            int last = lines.size() - 1;
            if (last >= 0 && lines.get(last).length() + 3 + part.length() <= width)
                lines.set(last, lines.get(last) + "   " + part);
            else lines.add(part);
        }
        return lines;
    }

    /** Returns labels at full minutes, hours or days: the shortest step whose labels do not touch. */
    private String axis() {
        long seconds = Math.max(1, Duration.between(from, to).toSeconds());
        boolean dates = seconds > Duration.ofDays(2).toSeconds();
        Duration step = STEPS.get(STEPS.size() - 1);
        for (int i = STEPS.size() - 1; i >= 0; i--)
            if (columns * STEPS.get(i).toSeconds() / seconds
                    > pattern(STEPS.get(i), dates).length() + 1) step = STEPS.get(i);
        DateTimeFormatter format =
                DateTimeFormatter.ofPattern(pattern(step, dates), Locale.ROOT).withZone(ZoneOffset.UTC);
        StringBuilder axis = new StringBuilder();
        long first = Math.floorDiv(from.getEpochSecond() + step.toSeconds() - 1, step.toSeconds()) * step.toSeconds();
        for (Instant at = Instant.ofEpochSecond(first); !at.isAfter(to); at = at.plus(step)) {
            String label = format.format(at);
            int column = column(at);
            if (column < axis.length() || column + label.length() > columns) continue;
            axis.append(" ".repeat(column - axis.length())).append(label);
        }
        return " ".repeat(nameWidth + 2) + axis;
    }

    private static String pattern(Duration step, boolean dates) {
        if (step.toHours() >= 24) return "MM-dd";
        if (dates) return "MM-dd HH:mm";
        return step.toSeconds() < 60 ? "HH:mm:ss" : "HH:mm";
    }

    private int column(Instant instant) {
        long all = Math.max(1, Duration.between(from, to).toMillis());
        long part = Duration.between(from, instant).toMillis() * columns / all;
        return (int) Math.max(0, Math.min(columns - 1, part));
    }

    private String line(JsonNode row) {
        Mark[] marks = new Mark[columns];
        Arrays.fill(marks, Mark.NONE);
        JsonNode past = row.path("past");
        if (past.size() >= MAX_ENTRIES && row.path("more").booleanValue(false))
            mark(marks, Mark.HIDDEN, from, instant(past.path(0), "from", from));
        for (JsonNode entry : past) pastEntry(marks, entry);
        for (JsonNode entry : row.path("coming")) {
            Instant at = instant(entry, "at", to);
            mark(marks, Mark.COMING, at, at);
        }
        used.addAll(List.of(marks));
        String name = name(row);
        String shown = name.length() > nameWidth ? name.substring(0, nameWidth - 1) + "~" : name;
        StringBuilder line = new StringBuilder(shown).append(" ".repeat(nameWidth - shown.length() + 2));
        int present = now.isBefore(from) || now.isAfter(to) ? -1 : column(now);
        for (int i = 0; i < columns; i++)
            line.append(i == present && marks[i].compareTo(Mark.WAITING) < 0 ? "|" : symbol(marks[i]));
        return line.toString().stripTrailing() + (row.path("paused").booleanValue(false) ? "  (paused)" : "");
    }

    private void pastEntry(Mark[] marks, JsonNode entry) {
        Mark mark = Mark.of(entry.path("state").stringValue(""));
        Instant planned = instant(entry, "from", from);
        Instant start = instant(entry, "startedAt", planned);
        Instant end = switch (mark) {
            case RUNNING -> now;
            case SKIPPED -> entry.has("run") ? start : instant(entry, "to", start);
            default -> instant(entry, "endedAt", start);
        };
        // A backfilled run starts long after its instant; it is drawn at the instant.
        if (start.isAfter(to)) mark(marks, mark, planned, planned);
        else mark(marks, mark, start, end.isBefore(start) ? start : end);
    }

    private void mark(Mark[] marks, Mark mark, Instant start, Instant end) {
        if (end.isBefore(from) || start.isAfter(to)) return;
        for (int i = column(start); i <= column(end); i++) if (marks[i].compareTo(mark) < 0) marks[i] = mark;
    }

    private static Instant instant(JsonNode entry, String field, Instant otherwise) {
        String text = entry.path(field).stringValue("");
        return text.isEmpty() ? otherwise : Instant.parse(text);
    }

    private String symbol(Mark mark) {
        return renderOptions.symbol(mark.unicode, mark.ascii);
    }
}
