package io.carillon.cli.dev;

import java.io.PrintWriter;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.function.Consumer;

/** Without a terminal: one line for each event, written at once. When nobody reads any more, it says so. */
final class PlainLines implements Consumer<RunEvent> {
    private static final DateTimeFormatter UTC = DateTimeFormatter.ofPattern(
                    "uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private final PrintWriter out;
    private final Runnable nobodyReads;

    PlainLines(PrintWriter out, Runnable nobodyReads) {
        this.out = out;
        this.nobodyReads = nobodyReads;
    }

    @Override
    public void accept(RunEvent event) {
        out.println(line(event));
        // Flushes, too.
        if (out.checkError()) nobodyReads.run();
    }

    static String line(RunEvent event) {
        return "%s %s %s %s".formatted(time(event.at()), event.schedule(), event.run(), event.sentence());
    }

    static String time(Instant at) {
        return UTC.format(at);
    }
}
