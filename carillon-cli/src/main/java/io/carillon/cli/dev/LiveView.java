package io.carillon.cli.dev;

import io.carillon.cli.screen.Ink;
import io.carillon.cli.screen.Line;
import io.carillon.cli.screen.Look;
import io.carillon.cli.screen.Size;
import io.carillon.cli.shell.Spans;
import java.time.Duration;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Draws a picture to fit a size: never more lines than rows, never more characters than columns. */
final class LiveView {
    private static final int NARROW = 100;
    private static final int BAR = 24;

    private final Picture picture;
    private final Size size;
    private final Look look;
    private final DateTimeFormatter time;
    private final int names;
    private final List<Line> lines = new ArrayList<>();

    private LiveView(Picture picture, Size size, Look look, ZoneId zone) {
        this.picture = picture;
        this.size = size;
        this.look = look;
        this.time = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(zone);
        this.names = Math.min(size.columns() / 4, longestName(picture));
    }

    private static int longestName(Picture picture) {
        return Stream.of(
                        picture.schedules().stream().map(Picture.Row::name),
                        picture.running().stream().map(Board.Running::schedule),
                        picture.last().stream().map(RunEvent::schedule))
                .flatMap(names -> names)
                .mapToInt(String::length)
                .max()
                .orElse(0);
    }

    /** Times of day are those of the zone. */
    static List<Line> draw(Picture picture, Size size, Look look, ZoneId zone) {
        LiveView view = new LiveView(picture, size, look, zone);
        view.body();
        while (view.lines.size() < size.rows() - 1) view.blank();
        while (view.lines.size() >= size.rows()) view.lines.remove(view.lines.size() - 1);
        view.foot();
        return view.lines;
    }

    private void body() {
        head();
        int foot = 2;
        int space = size.rows() - lines.size() - foot;
        // The last runs get what the others leave, and the others leave them at least a third.
        int schedules = Math.min(picture.schedules().size(), Math.max(1, space / 3 - 2));
        int running = Math.min(Math.max(1, picture.running().size()), Math.max(1, space / 3 - 2));
        schedules(schedules);
        running(running);
        last(size.rows() - lines.size() - foot - 2);
    }

    private void head() {
        String up = "up " + Spans.countdown(picture.up());
        String version = " Carillon " + picture.head().version();
        line().add(Ink.BOLD, version)
                .add("  ")
                .add(Ink.ALARM, " DEV MODE, not for production ")
                .toTheRight(up.length() + 1)
                .add(Ink.DIM, up);
        line().add(" " + picture.head().database());
        line().add(Ink.DIM, " data " + picture.head().data());
        Board.Tally tally = picture.tally();
        Line counts = line().add(" ");
        if (picture.condition().healthy()) counts.add(Ink.GREEN, look.sign("● ", "") + "healthy");
        else counts.add(Ink.RED, look.sign("● ", "! ") + "not well");
        counts.add(Ink.DIM, "   " + picture.condition().node() + "   ")
                .add(picture.running().size() + " running   ")
                .add(tally.succeeded() + " succeeded   ")
                .add(tally.failed() + " failed   ")
                .add(tally.dead() > 0 ? Ink.RED : Ink.PLAIN, dead(tally.dead()) + " dead");
        for (String issue : picture.condition().issues()) line().add(Ink.YELLOW, " ! " + issue);
    }

    private static String dead(long count) {
        return count >= Dev.DEAD_COUNTED ? count + "+" : String.valueOf(count);
    }

    private void schedules(int shown) {
        title("SCHEDULES", picture.schedules().size() - shown);
        if (picture.schedules().isEmpty()) line().add(Ink.DIM, "   none yet");
        for (Picture.Row row : picture.schedules().subList(0, shown)) {
            Duration next = row.next();
            Line line = line().add("   ").cell(Ink.PLAIN, row.name(), names);
            if (row.paused()) line.cell(Ink.YELLOW, "paused", 14);
            else if (next == null) line.cell(Ink.DIM, "no further run", 14);
            else line.cell(Ink.CYAN, "in " + Spans.countdown(next), 14);
            line.add(Ink.DIM, row.english());
        }
    }

    private void running(int shown) {
        title("RUNNING", picture.running().size() - shown);
        if (picture.running().isEmpty()) line().add(Ink.DIM, "   nothing just now");
        for (Board.Running run :
                picture.running().subList(0, Math.min(shown, picture.running().size()))) {
            Line line = line().add("   ").cell(Ink.PLAIN, run.schedule(), names);
            if (run.part() < 0) line.cell(Ink.PLAIN, "", BAR).add(" ".repeat(7));
            else
                line.cell(Ink.GREEN, look.bar(BAR, run.part()), BAR)
                        .right(Ink.PLAIN, Math.round(run.part() * 100) + " %", 5);
            line.right(Ink.PLAIN, Spans.text(run.since()), 8);
            if (run.attempt() > 1) line.add(Ink.YELLOW, "attempt " + run.attempt() + "  ");
            line.add(Ink.DIM, run.run());
        }
    }

    private void last(int shown) {
        title("LAST RUNS", 0);
        if (picture.last().isEmpty()) line().add(Ink.DIM, "   none yet");
        for (RunEvent event : picture.last()
                .subList(0, Math.max(0, Math.min(shown, picture.last().size())))) {
            Line line = line().add("   ")
                    .cell(Ink.DIM, time.format(event.at()), 8)
                    .cell(Ink.PLAIN, event.schedule(), names)
                    .cell(ink(event), sign(event) + event.word(), 13)
                    .right(Ink.PLAIN, Spans.text(event.facts().took()), 8);
            if (size.columns() >= NARROW) line.cell(Ink.DIM, event.run(), 30);
            line.add(Ink.DIM, shortened(event.detail()));
        }
    }

    private void foot() {
        String warning = picture.condition().warning();
        if (warning.isEmpty())
            line().add(
                            Ink.DIM,
                            " q or Ctrl-C stops, the data stays. Log: "
                                    + picture.head().log());
        else line().add(Ink.YELLOW, " ! " + warning);
    }

    private void title(String text, int hidden) {
        blank();
        Line line = line().add(Ink.BOLD, " " + text);
        if (hidden > 0) line.add(Ink.DIM, "  and " + hidden + " more");
    }

    private Ink ink(RunEvent event) {
        return switch (event.kind()) {
            case SUCCEEDED -> Ink.GREEN;
            case DEAD -> Ink.RED;
            case RETRY -> Ink.YELLOW;
            default -> Ink.CYAN;
        };
    }

    private String sign(RunEvent event) {
        return switch (event.kind()) {
            case SUCCEEDED -> look.sign("✓ ", "");
            case DEAD -> look.sign("✗ ", "");
            case RETRY -> look.sign("↻ ", "");
            default -> look.sign("· ", "");
        };
    }

    /** The class of an exception takes much room and says less than its message. */
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
