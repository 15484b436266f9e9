package io.carillon.cli.dev;

import java.io.PrintWriter;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Prints one line per event and flushes it immediately, for output without a terminal. Reports when the
 * output is closed.
 */
final class PlainEventPrinter implements Consumer<ActivityEvent> {
    private static final DateTimeFormatter UTC = DateTimeFormatter.ofPattern(
                    "uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private final PrintWriter out;
    private final Runnable onOutputClosed;

    PlainEventPrinter(PrintWriter out, Runnable onOutputClosed) {
        this.out = out;
        this.onOutputClosed = onOutputClosed;
    }

    @Override
    public void accept(ActivityEvent event) {
        out.println(line(event));
        // checkError also flushes.
        if (out.checkError()) onOutputClosed.run();
    }

    static String line(ActivityEvent event) {
        return "%s %s %s %s".formatted(time(event.at()), event.schedule(), event.run(), event.sentence());
    }

    static String time(Instant at) {
        return UTC.format(at);
    }
}
