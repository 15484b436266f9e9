package io.carillon.cli.dev;

import io.carillon.cli.screen.Line;
import io.carillon.cli.screen.RenderOptions;
import io.carillon.cli.screen.Size;
import io.carillon.cli.screen.TerminalStyle;
import io.carillon.cli.shell.DurationText;
import java.time.Duration;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Draws a snapshot for a terminal: never more lines than rows, never more characters than columns. */
final class LiveView {
    private static final int NARROW_COLUMNS = 100;
    private static final int BAR_COLUMNS = 24;
    private static final int MIN_ROWS_WITH_TRIES = 20;
    private static final int ROWS_PER_TRY = 10;
    private static final int TRY_INDENT = 9;
    /** A little less than the time for which the login link is valid. */
    private static final Duration LINK_SHOWN = Duration.ofMinutes(10).minusSeconds(30);

    private final LiveSnapshot snapshot;
    private final Size size;
    private final RenderOptions renderOptions;
    private final DateTimeFormatter time;
    private final int nameWidth;
    private final List<Line> lines = new ArrayList<>();

    private LiveView(LiveSnapshot snapshot, Size size, RenderOptions renderOptions, ZoneId zone) {
        this.snapshot = snapshot;
        this.size = size;
        this.renderOptions = renderOptions;
        this.time = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(zone);
        this.nameWidth = Math.min(size.columns() / 4, longestName(snapshot));
    }

    private static int longestName(LiveSnapshot snapshot) {
        return Stream.of(
                        snapshot.schedules().stream().map(LiveSnapshot.ScheduleRow::name),
                        snapshot.running().stream().map(RunActivity.ActiveRun::schedule),
                        snapshot.recentEvents().stream().map(ActivityEvent::schedule))
                .flatMap(names -> names)
                .mapToInt(String::length)
                .max()
                .orElse(0);
    }

    /** Draws the snapshot. Times of day are in the given zone. */
    static List<Line> draw(LiveSnapshot snapshot, Size size, RenderOptions renderOptions, ZoneId zone) {
        LiveView view = new LiveView(snapshot, size, renderOptions, zone);
        view.body();
        while (view.lines.size() < size.rows() - 1) view.blank();
        while (view.lines.size() >= size.rows()) view.lines.remove(view.lines.size() - 1);
        view.footer();
        return view.lines;
    }

    private void body() {
        header();
        int foot = 2;
        int space = size.rows() - lines.size() - foot;
        // Schedules and running attempts take at most a third each; the last runs take the rest.
        int schedules = Math.min(snapshot.schedules().size(), Math.max(1, space / 3 - 2));
        int running = Math.min(Math.max(1, snapshot.running().size()), Math.max(1, space / 3 - 2));
        schedules(schedules);
        running(running);
        recentRuns(size.rows() - lines.size() - foot - 2);
    }

    private void header() {
        String up = "up " + DurationText.countdown(snapshot.uptime());
        String version = " Carillon " + snapshot.header().version();
        line().add(TerminalStyle.BOLD, version)
                .add("  ")
                .add(TerminalStyle.ALARM, " DEV MODE, not for production ")
                .padToRightEdge(up.length() + 1)
                .add(TerminalStyle.DIM, up);
        line().add(" " + snapshot.header().database());
        line().add(TerminalStyle.DIM, " data " + snapshot.header().data());
        RunActivity.Totals totals = snapshot.totals();
        Line counts = line().add(" ");
        if (snapshot.condition().isHealthy())
            counts.add(TerminalStyle.GREEN, renderOptions.symbol("● ", "") + "healthy");
        else counts.add(TerminalStyle.RED, renderOptions.symbol("● ", "! ") + "unhealthy");
        counts.add(TerminalStyle.DIM, "   " + snapshot.condition().nodes() + "   ")
                .add(snapshot.running().size() + " running   ")
                .add(totals.succeeded() + " succeeded   ")
                .add(totals.failed() + " failed   ")
                .add(totals.dead() > 0 ? TerminalStyle.RED : TerminalStyle.PLAIN, dead(totals.dead()) + " dead");
        dashboard();
        tries();
        for (String issue : snapshot.condition().issues()) line().add(TerminalStyle.YELLOW, " ! " + issue);
    }

    /** Shows the login link while it is valid. */
    private void dashboard() {
        StartupBanner.Dashboard dashboard = snapshot.header().dashboard();
        if (dashboard == null || size.rows() < MIN_ROWS_WITH_TRIES) return;
        boolean expired = snapshot.uptime().compareTo(LINK_SHOWN) >= 0;
        line().add(TerminalStyle.DIM, " dashboard ")
                .add(TerminalStyle.CYAN, expired ? dashboard.later() : dashboard.link());
    }

    /** Shows as many commands as leave most of the screen to the runs. */
    private void tries() {
        if (size.rows() < MIN_ROWS_WITH_TRIES) return;
        snapshot.header().tries().stream().limit(size.rows() / ROWS_PER_TRY).forEach(command -> {
            String label = " try ";
            for (String part : shellLines(command, size.columns() - TRY_INDENT)) {
                line().add(TerminalStyle.DIM, label).add(TerminalStyle.CYAN, part);
                label = " ".repeat(TRY_INDENT);
            }
        });
    }

    /** Returns the command in lines that a shell joins again when they are copied, broken before options. */
    private static List<String> shellLines(String command, int width) {
        int end = command.lastIndexOf(" --", width - 2);
        if (command.length() <= width || end <= 0) return List.of(command);
        List<String> lines = new ArrayList<>(List.of(command.substring(0, end) + " \\"));
        lines.addAll(shellLines(command.substring(end + 1), width));
        return lines;
    }

    private static String dead(long count) {
        return count >= DevNode.DEAD_COUNTED ? count + "+" : String.valueOf(count);
    }

    private void schedules(int shown) {
        title("SCHEDULES", snapshot.schedules().size() - shown);
        if (snapshot.schedules().isEmpty()) line().add(TerminalStyle.DIM, "   none yet");
        for (LiveSnapshot.ScheduleRow scheduleRow : snapshot.schedules().subList(0, shown)) {
            Duration next = scheduleRow.next();
            Line line = line().add("   ").cell(TerminalStyle.PLAIN, scheduleRow.name(), nameWidth);
            if (scheduleRow.paused()) line.cell(TerminalStyle.YELLOW, "paused", 14);
            else if (next == null) line.cell(TerminalStyle.DIM, "no further run", 14);
            else line.cell(TerminalStyle.CYAN, "in " + DurationText.countdown(next), 14);
            line.add(TerminalStyle.DIM, scheduleRow.description());
        }
    }

    private void running(int shown) {
        title("RUNNING", snapshot.running().size() - shown);
        if (snapshot.running().isEmpty()) line().add(TerminalStyle.DIM, "   none");
        for (RunActivity.ActiveRun run :
                snapshot.running().subList(0, Math.min(shown, snapshot.running().size()))) {
            Line line = line().add("   ").cell(TerminalStyle.PLAIN, run.schedule(), nameWidth);
            if (run.fraction() < 0)
                line.cell(TerminalStyle.PLAIN, "", BAR_COLUMNS).add(" ".repeat(7));
            else
                line.cell(TerminalStyle.GREEN, renderOptions.bar(BAR_COLUMNS, run.fraction()), BAR_COLUMNS)
                        .rightAlignedCell(TerminalStyle.PLAIN, Math.round(run.fraction() * 100) + " %", 5);
            line.rightAlignedCell(TerminalStyle.PLAIN, DurationText.text(run.elapsed()), 8);
            if (run.attempt() > 1) line.add(TerminalStyle.YELLOW, "attempt " + run.attempt() + "  ");
            line.add(TerminalStyle.DIM, run.run());
        }
    }

    private void recentRuns(int shown) {
        title("LAST RUNS", 0);
        if (snapshot.recentEvents().isEmpty()) line().add(TerminalStyle.DIM, "   none yet");
        for (ActivityEvent event : snapshot.recentEvents()
                .subList(0, Math.max(0, Math.min(shown, snapshot.recentEvents().size())))) {
            Line line = line().add("   ")
                    .cell(TerminalStyle.DIM, time.format(event.at()), 8)
                    .cell(TerminalStyle.PLAIN, event.schedule(), nameWidth)
                    .cell(styleOf(event), symbolOf(event) + event.label(), 13)
                    .rightAlignedCell(
                            TerminalStyle.PLAIN,
                            DurationText.text(event.details().took()),
                            8);
            if (size.columns() >= NARROW_COLUMNS) line.cell(TerminalStyle.DIM, event.run(), 30);
            line.add(TerminalStyle.DIM, shortened(event.detail()));
        }
    }

    private void footer() {
        String warning = snapshot.condition().warning();
        if (warning.isEmpty())
            line().add(
                            TerminalStyle.DIM,
                            " q or Ctrl-C stops; the data is kept. Log: "
                                    + snapshot.header().log());
        else line().add(TerminalStyle.YELLOW, " ! " + warning);
    }

    private void title(String text, int hidden) {
        blank();
        Line line = line().add(TerminalStyle.BOLD, " " + text);
        if (hidden > 0) line.add(TerminalStyle.DIM, "  and " + hidden + " more");
    }

    private TerminalStyle styleOf(ActivityEvent event) {
        return switch (event.kind()) {
            case SUCCEEDED -> TerminalStyle.GREEN;
            case DEAD -> TerminalStyle.RED;
            case RETRY -> TerminalStyle.YELLOW;
            default -> TerminalStyle.CYAN;
        };
    }

    private String symbolOf(ActivityEvent event) {
        return switch (event.kind()) {
            case SUCCEEDED -> renderOptions.symbol("✓ ", "");
            case DEAD -> renderOptions.symbol("✗ ", "");
            case RETRY -> renderOptions.symbol("↻ ", "");
            default -> renderOptions.symbol("· ", "");
        };
    }

    /** Removes the class name of an exception, which is long and says less than the message. */
    private static String shortened(String detail) {
        return detail.replaceFirst("\\b(?:[a-z]\\w*\\.)+[A-Z]\\w*: ", "");
    }

    private Line line() {
        Line line = new Line(size.columns());
        lines.add(line);
        return line;
    }

    private void blank() {
        lines.add(new Line(0));
    }
}
