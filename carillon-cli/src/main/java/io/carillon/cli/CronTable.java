package io.carillon.cli;

import io.carillon.schedule.Preview;
import io.carillon.schedule.Preview.Mark;
import java.time.format.DateTimeFormatter;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The explanation as a table: local time with its weekday, offset, UTC, and a mark at clock changes, with
 * a legend below.
 */
final class CronTable {
    private static final DateTimeFormatter LOCAL =
            DateTimeFormatter.ofPattern("EEE yyyy-MM-dd HH:mm:ss", Locale.ENGLISH);
    private static final String ROW = "%-23s  %-6s  %-20s  %s";
    private static final String LEGEND = "%-7s  %s";

    private CronTable() {}

    static String text(CronExplanation answer) {
        Preview preview = answer.preview();
        StringBuilder text = new StringBuilder();
        text.append(answer.expression()).append("  (").append(preview.zone()).append(")\n");
        text.append(preview.description()).append(".\n");
        for (String warning : preview.warnings())
            text.append("Warning: ").append(warning).append(".\n");
        text.append('\n');
        text.append(row("LOCAL TIME", "OFFSET", "UTC", ""));
        for (Preview.Entry entry : preview.entries()) text.append('\n').append(row(entry));
        return text.append(legend(preview)).toString();
    }

    private static String row(Preview.Entry entry) {
        String local = LOCAL.format(entry.willRun() ? entry.local() : entry.planned());
        if (!entry.willRun()) return row(local, "-", "-", CronExplanation.markText(entry.mark()));
        String mark = CronExplanation.markText(entry.mark())
                + (entry.mark() == Mark.MOVED ? " from " + CronExplanation.wallTime(entry) : "");
        return row(local, offset(entry), entry.utc().toString(), mark);
    }

    private static String offset(Preview.Entry entry) {
        return entry.offset().getTotalSeconds() == 0 ? "+00:00" : entry.offset().getId();
    }

    private static String row(String local, String offset, String utc, String mark) {
        return ROW.formatted(local, offset, utc, mark).stripTrailing();
    }

    private static String legend(Preview preview) {
        Set<Mark> marks = preview.entries().stream()
                .map(Preview.Entry::mark)
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(Mark.class)));
        marks.remove(Mark.NONE);
        if (marks.isEmpty()) return "";
        return marks.stream()
                .map(mark -> LEGEND.formatted(
                        CronExplanation.markText(mark), CronExplanation.markReason(mark, "this time of day")))
                .collect(Collectors.joining("\n", "\n\n", ""));
    }
}
