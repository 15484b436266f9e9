package io.carillon.cli.dev;

import io.carillon.cli.shell.Spans;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The first thing a user reads: what runs here, on what, what is planned, and how to stop it. */
record FirstBlock(Picture.Head head, String schema, List<Picture.Row> schedules, Rest rest) {
    /** Where the server listens, where webhooks may be sent to see them come back, and what to try on it. */
    record Rest(String url, String echo, List<String> tries) {}

    private static final String ENTRY = "  %-10s %s";

    String text() {
        List<String> lines = new ArrayList<>();
        lines.add("");
        lines.add("Carillon " + head.version());
        lines.add("*** DEV MODE: to try things out. NOT FOR PRODUCTION. ***");
        lines.add("");
        lines.add(ENTRY.formatted("database", head.database()));
        lines.add(ENTRY.formatted("schema", schema));
        lines.add(ENTRY.formatted("data", head.data()));
        lines.add(ENTRY.formatted("log", head.log()));
        if (schedules.isEmpty()) lines.add(ENTRY.formatted("schedules", "none yet"));
        for (int i = 0; i < schedules.size(); i++)
            lines.add(ENTRY.formatted(i == 0 ? "schedules" : "", row(schedules.get(i))));
        lines.add(ENTRY.formatted("rest", rest.url()));
        lines.add(
                ENTRY.formatted("webhooks", rest.echo() + " answers them; here they may call this machine (loopback)"));
        for (int i = 0; i < rest.tries().size(); i++)
            lines.add(ENTRY.formatted(i == 0 ? "try" : "", rest.tries().get(i)));
        lines.add(ENTRY.formatted("stop", "Ctrl-C; the data stays"));
        lines.add("");
        return String.join("\n", lines);
    }

    private String row(Picture.Row schedule) {
        int names =
                schedules.stream().mapToInt(one -> one.name().length()).max().orElse(0);
        int timings =
                schedules.stream().mapToInt(one -> one.english().length()).max().orElse(0);
        return ("%-" + names + "s  %-" + timings + "s  %s")
                .formatted(schedule.name(), schedule.english(), next(schedule));
    }

    static String next(Picture.Row schedule) {
        if (schedule.paused()) return "paused";
        Duration next = schedule.next();
        return next == null ? "no further run" : "next in " + Spans.countdown(next);
    }
}
