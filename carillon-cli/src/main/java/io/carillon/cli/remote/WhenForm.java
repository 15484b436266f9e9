package io.carillon.cli.remote;

import static java.util.Objects.requireNonNull;

import io.carillon.cli.shell.UsageException;
import io.carillon.schedule.DstPolicy;
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
    /** The fields of a timing, of which there is one, and what belongs to it. */
    private static final List<String> TIMINGS = List.of("cron", "every", "once", "adaptive");

    private static final Pattern EVERY =
            Pattern.compile("(\\d{1,9})\\s*(?:([smhdw])|((?i)second|minute|hour|day|week|month|year)(?i:s)?)");
    private static final Pattern ADAPTIVE = Pattern.compile("(\\S+?)\\.\\.(\\S+)");
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

        @Option(
                names = "--adaptive",
                paramLabel = "MIN..MAX",
                description = "As often as the backlog of its queue asks for, such as 10s..1h.")
        private @Nullable String adaptive;
    }

    @Option(
            names = {"-z", "--zone"},
            paramLabel = "ZONE",
            description = "IANA name of the time zone; UTC unless said.")
    private @Nullable String zone;

    @Option(
            names = "--start",
            paramLabel = "INSTANT",
            description = "Where --every counts from; 1970-01-01T00:00:00Z unless said.")
    private @Nullable String start;

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

    @Option(
            names = "--jitter",
            paramLabel = "LENGTH",
            description = "Runs fall due later by a part of this, always the same for one schedule.")
    private @Nullable String jitter;

    @Option(
            names = "--gap",
            paramLabel = "run-after|skip",
            description = "Where the clocks skip the time: run right after, or not at all.")
    private @Nullable String gap;

    @Option(
            names = "--repeat",
            paramLabel = "first|second|both",
            description = "Where the clocks show the time twice: run at which.")
    private @Nullable String repeat;

    boolean hasNoTiming() {
        return timing.cron == null && timing.every == null && timing.once == null && timing.adaptive == null;
    }

    ObjectNode json() {
        if (hasNoTiming()) throw new UsageException("When? Say --cron, --every, --once or --adaptive.");
        return over(JsonNodeFactory.instance.objectNode());
    }

    /** What was said put in the place of what is there. */
    ObjectNode over(ObjectNode when) {
        if (!hasNoTiming()) when.remove(TIMINGS);
        RemoteGroup.with(when, "cron", timing.cron);
        RemoteGroup.with(when, "once", timing.once);
        if (timing.every != null) when.set("every", interval(timing.every));
        if (timing.adaptive != null) when.set("adaptive", bounds(timing.adaptive));
        if (start != null) every(when).put("start", start);
        RemoteGroup.with(when, "zone", zone);
        RemoteGroup.with(when, "from", from);
        RemoteGroup.with(when, "until", until);
        if (except != null) except.forEach(when.putArray("except")::add);
        if (maxRuns != null) when.put("maxRuns", maxRuns);
        RemoteGroup.with(when, "jitter", jitter);
        RemoteGroup.with(when, "gap", Words.one("--gap", gap, DstPolicy.Gap.class));
        return RemoteGroup.with(when, "repeat", Words.one("--repeat", repeat, DstPolicy.Repeat.class));
    }

    private static ObjectNode every(ObjectNode when) {
        if (when.get("every") instanceof ObjectNode every) return every;
        throw new UsageException("--start belongs to --every. Leave it out, or say --from.");
    }

    private static ObjectNode bounds(String text) {
        Matcher parts = ADAPTIVE.matcher(text.strip());
        if (!parts.matches())
            throw new UsageException("--adaptive is '%s'. Write the shortest and the longest interval, such as 10s..1h."
                    .formatted(text));
        return JsonNodeFactory.instance.objectNode().put("min", parts.group(1)).put("max", parts.group(2));
    }

    private static ObjectNode interval(String text) {
        Matcher parts = EVERY.matcher(text.strip());
        if (!parts.matches())
            throw new UsageException(
                    "--every is '%s'. Write a number and a unit, such as 10s, 5m, 2h, 1d, 1w or '3 months'."
                            .formatted(text));
        String letter = parts.group(2);
        String unit = letter != null
                ? requireNonNull(UNITS.get(letter))
                : parts.group(3).toLowerCase(Locale.ROOT) + "s";
        return JsonNodeFactory.instance
                .objectNode()
                .put("amount", Long.parseLong(parts.group(1)))
                .put("unit", unit);
    }
}
