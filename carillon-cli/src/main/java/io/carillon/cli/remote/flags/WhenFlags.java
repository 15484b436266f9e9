package io.carillon.cli.remote.flags;

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

/** The options of a timing. */
public final class WhenFlags {
    /** The REST fields of the timings, of which a schedule has exactly one. */
    private static final List<String> TIMINGS = List.of("cron", "every", "once", "adaptive");

    private static final Pattern EVERY =
            Pattern.compile("(\\d{1,9})\\s*(?:([smhdw])|((?i)second|minute|hour|day|week|month|year)(?i:s)?)");
    private static final Pattern ADAPTIVE = Pattern.compile("(\\S+?)\\.\\.(\\S+)");
    private static final Map<String, String> UNITS =
            Map.of("s", "seconds", "m", "minutes", "h", "hours", "d", "days", "w", "weeks");

    @ArgGroup(exclusive = true)
    private Timing timing = new Timing();

    /** The alternatives of a timing. */
    static final class Timing {
        @Option(
                names = "--cron",
                paramLabel = "EXPRESSION",
                description = "Cron expression, in quotes: five fields, or six with seconds first.")
        private @Nullable String cron;

        @Option(
                names = "--every",
                paramLabel = "DURATION",
                description = "Interval: 10s, 5m, 2h, 1d, 1w or '3 months'.")
        private @Nullable String every;

        @Option(names = "--once", paramLabel = "INSTANT", description = "Single instant, such as 2026-03-29T01:00:00Z.")
        private @Nullable String once;

        @Option(
                names = "--adaptive",
                paramLabel = "MIN..MAX",
                description = "Shortest and longest interval, such as 10s..1h. The interval becomes shorter while the "
                        + "queue has a growing backlog, longer while it has none.")
        private @Nullable String adaptive;
    }

    @Option(
            names = {"-z", "--zone"},
            paramLabel = "ZONE",
            description = "IANA time zone. Default: UTC.")
    private @Nullable String zone;

    @Option(
            names = "--start",
            paramLabel = "INSTANT",
            description = "Instant from which --every counts. Default: 1970-01-01T00:00:00Z.")
    private @Nullable String start;

    @Option(names = "--from", paramLabel = "INSTANT", description = "First possible instant.")
    private @Nullable String from;

    @Option(names = "--until", paramLabel = "INSTANT", description = "Last possible instant.")
    private @Nullable String until;

    @Option(
            names = "--except",
            paramLabel = "DATE",
            split = ",",
            description = "Dates without runs, such as 2026-12-25.")
    private @Nullable List<String> except;

    @Option(names = "--max-runs", paramLabel = "N", description = "Maximum number of runs in total.")
    private @Nullable Long maxRuns;

    @Option(
            names = "--jitter",
            paramLabel = "DURATION",
            description = "Delays the runs of each schedule by a fixed time between 0 and this, so that schedules do "
                    + "not start together.")
    private @Nullable String jitter;

    @Option(
            names = "--gap",
            paramLabel = "run-after|skip",
            description =
                    "Policy for times that the clocks skip: run right after the gap, or skip. Default: run-after.")
    private @Nullable String gap;

    @Option(
            names = "--repeat",
            paramLabel = "first|second|both",
            description = "Policy for times that the clocks show twice: run at the first, the second or both. Default: "
                    + "first.")
    private @Nullable String repeat;

    boolean hasNoTiming() {
        return timing.cron == null && timing.every == null && timing.once == null && timing.adaptive == null;
    }

    public ObjectNode json() {
        if (hasNoTiming()) throw new UsageException("No timing is given. Give --cron, --every, --once or --adaptive.");
        return applyTo(JsonNodeFactory.instance.objectNode());
    }

    /** Replaces the fields for which an option was given. */
    ObjectNode applyTo(ObjectNode when) {
        if (!hasNoTiming()) when.remove(TIMINGS);
        JsonBody.putIfGiven(when, "cron", timing.cron);
        JsonBody.putIfGiven(when, "once", timing.once);
        if (timing.every != null) when.set("every", interval(timing.every));
        if (timing.adaptive != null) when.set("adaptive", adaptiveBounds(timing.adaptive));
        if (start != null) every(when).put("start", start);
        JsonBody.putIfGiven(when, "zone", zone);
        JsonBody.putIfGiven(when, "from", from);
        JsonBody.putIfGiven(when, "until", until);
        if (except != null) except.forEach(when.putArray("except")::add);
        if (maxRuns != null) when.put("maxRuns", maxRuns);
        JsonBody.putIfGiven(when, "jitter", jitter);
        JsonBody.putIfGiven(when, "gap", AllowedValues.require("--gap", gap, DstPolicy.Gap.class));
        return JsonBody.putIfGiven(when, "repeat", AllowedValues.require("--repeat", repeat, DstPolicy.Repeat.class));
    }

    private static ObjectNode every(ObjectNode when) {
        if (when.get("every") instanceof ObjectNode every) return every;
        throw new UsageException("--start needs --every. Remove it, or use --from.");
    }

    private static ObjectNode adaptiveBounds(String text) {
        Matcher parts = ADAPTIVE.matcher(text.strip());
        if (!parts.matches())
            throw new UsageException(
                    "--adaptive must be the shortest and the longest interval, such as 10s..1h (was '%s')."
                            .formatted(text));
        return JsonNodeFactory.instance.objectNode().put("min", parts.group(1)).put("max", parts.group(2));
    }

    private static ObjectNode interval(String text) {
        Matcher parts = EVERY.matcher(text.strip());
        if (!parts.matches())
            throw new UsageException(
                    "--every must be a number and a unit, such as 10s, 5m, 2h, 1d, 1w or '3 months' (was '%s')."
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
