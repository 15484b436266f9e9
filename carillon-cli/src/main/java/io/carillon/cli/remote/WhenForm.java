package io.carillon.cli.remote;

import io.carillon.cli.shell.UsageException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** When a schedule runs, by flags. */
final class WhenForm {
    private static final Pattern EVERY =
            Pattern.compile("(\\d{1,9})\\s*(s|m|h|d|w|second|minute|hour|day|week|month|year)s?");
    private static final Map<String, String> UNITS =
            Map.of("s", "seconds", "m", "minutes", "h", "hours", "d", "days", "w", "weeks");

    @ArgGroup(exclusive = true)
    private Timing timing = new Timing();

    /** One of these. */
    static final class Timing {
        @Option(
                names = "--cron",
                paramLabel = "EXPRESSION",
                description = "Five fields, or six with seconds first; in quotes.")
        private @Nullable String cron;

        @Option(
                names = "--every",
                paramLabel = "LENGTH",
                description = "An interval: 10s, 5m, 2h, 1d, 1w, or '3 months'.")
        private @Nullable String every;

        @Option(
                names = "--once",
                paramLabel = "INSTANT",
                description = "A single instant, such as 2026-03-29T01:00:00Z.")
        private @Nullable String once;
    }

    @Option(
            names = {"-z", "--zone"},
            paramLabel = "ZONE",
            description = "IANA name of the time zone; UTC unless said.")
    private @Nullable String zone;

    @Option(names = "--from", paramLabel = "INSTANT", description = "Not before this instant.")
    private @Nullable String from;

    @Option(names = "--until", paramLabel = "INSTANT", description = "Not after this instant.")
    private @Nullable String until;

    @Option(
            names = "--except",
            paramLabel = "DATE",
            split = ",",
            description = "Not on these days, such as 2026-12-25.")
    private @Nullable List<String> except;

    @Option(names = "--max-runs", paramLabel = "N", description = "No more than so many runs in all.")
    private @Nullable Long maxRuns;

    @Option(names = "--jitter", paramLabel = "LENGTH", description = "Each run later by a random part of this.")
    private @Nullable String jitter;

    boolean isEmpty() {
        return timing.cron == null && timing.every == null && timing.once == null;
    }

    ObjectNode json() {
        if (isEmpty()) throw new UsageException("When? Say --cron, --every or --once.");
        ObjectNode when = JsonNodeFactory.instance.objectNode();
        RemoteGroup.with(when, "cron", timing.cron);
        RemoteGroup.with(when, "once", timing.once);
        if (timing.every != null) when.set("every", interval(timing.every));
        RemoteGroup.with(when, "zone", zone);
        RemoteGroup.with(when, "from", from);
        RemoteGroup.with(when, "until", until);
        if (except != null) except.forEach(when.putArray("except")::add);
        if (maxRuns != null) when.put("maxRuns", maxRuns);
        return RemoteGroup.with(when, "jitter", jitter);
    }

    private static ObjectNode interval(String text) {
        Matcher parts = EVERY.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!parts.matches())
            throw new UsageException(
                    "--every is '%s'. Write a number and a unit, such as 10s, 5m, 2h, 1d, 1w or '3 months'."
                            .formatted(text));
        String unit = parts.group(2);
        return JsonNodeFactory.instance
                .objectNode()
                .put("amount", Long.parseLong(parts.group(1)))
                .put("unit", UNITS.getOrDefault(unit, unit + "s"));
    }
}
