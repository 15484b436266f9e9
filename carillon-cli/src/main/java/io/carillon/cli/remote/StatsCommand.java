package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.AllowedValues;
import io.carillon.cli.shell.DurationText;
import io.carillon.cli.shell.Shell;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon stats}: prints statistics of runs, one row for each step or group. */
@Command(
        name = "stats",
        description = "Show statistics of runs: how many ended and how, how late they started, how long they took.",
        sortOptions = false)
final class StatsCommand extends RemoteCommandGroup {
    private static final String NAME = "name";
    private static final String WAIT = "waitP50/P95";
    private static final String RUN = "runP50/P95";
    private static final List<String> COLUMNS =
            List.of(NAME, "ended", "rate", "dead", "retried", "missed", "failureRate", WAIT, RUN);

    @Option(names = "--from", paramLabel = "INSTANT", description = "Begin. Default: an hour before the end.")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "INSTANT", description = "End. Default: now.")
    private @Nullable String to;

    @Option(
            names = "--step",
            paramLabel = "DURATION",
            description = "Show a row for each step: a multiple of 1m, or of 1h for more than six hours.")
    private @Nullable String step;

    @Option(
            names = "--by",
            paramLabel = "queue|target|outcome",
            description = "Show a row for each queue, handler or endpoint, or outcome.")
    private @Nullable String by;

    @Option(names = "--queue", paramLabel = "NAME", description = "Filter by queue.")
    private @Nullable String queue;

    @Option(names = "--handler", paramLabel = "NAME", description = "Filter by handler.")
    private @Nullable String handler;

    @Option(
            names = "--limit",
            paramLabel = "N",
            description = "Maximum number of queues or targets; the others are summed. Default: 20.")
    private @Nullable Integer limit;

    @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.")
    private boolean watch;

    StatsCommand(Shell shell) {
        super(shell);
    }

    @Override
    public Integer call() {
        if (by != null) AllowedValues.require("--by", by, List.of("queue", "target", "outcome"));
        Map<String, String> query = new LinkedHashMap<>();
        putIfGiven(query, "from", from);
        putIfGiven(query, "to", to);
        putIfGiven(query, "step", step);
        putIfGiven(query, "by", by);
        putIfGiven(query, "queue", queue);
        putIfGiven(query, "handler", handler);
        putIfGiven(query, "limit", limit == null ? null : limit.toString());
        ApiClient apiClient = client();
        Printer printer = printer();
        return show(watch, () -> {
            JsonNode stats = apiClient.get("/v1/stats" + ApiClient.query(query));
            return printer.isTable() ? printer.listText(rows(stats), NAME, COLUMNS) : printer.itemText(stats, "from");
        });
    }

    private static void putIfGiven(Map<String, String> query, String name, @Nullable String value) {
        if (value != null) query.put(name, value);
    }

    /** Returns a row for each group or else each point, and the total. */
    private static List<JsonNode> rows(JsonNode stats) {
        Stream<JsonNode> parts = stats.path("groups").isEmpty()
                ? stats.path("points")
                        .valueStream()
                        .map(point -> row(point.path("at").asString(), point))
                : stats.path("groups").valueStream().map(group -> row(nameOf(group), group.path("total")));
        return Stream.concat(parts, Stream.of(row("total", stats.path("total"))))
                .collect(Collectors.toList());
    }

    private static String nameOf(JsonNode group) {
        return Stream.of("queue", "handler", "endpoint", "outcome")
                .filter(group::has)
                .findFirst()
                .map(kind -> (kind.equals("endpoint") ? "endpoint " : "")
                        + group.path(kind).asString())
                .orElse("other");
    }

    private static JsonNode row(String name, JsonNode figures) {
        ObjectNode row = emptyBody().put(NAME, name);
        for (String count : List.of("ended", "dead", "retried", "missed"))
            if (figures.has(count)) row.set(count, figures.path(count));
        row.put("rate", rate(figures.path("perSecond").asDouble()));
        if (figures.has("failureRate"))
            row.put("failureRate", threeFigures(figures.path("failureRate").asDouble() * 100) + " %");
        putTimes(row, WAIT, figures.path("waitMillis"));
        putTimes(row, RUN, figures.path("runMillis"));
        return row;
    }

    /** Shows the median and the 95th percentile. */
    private static void putTimes(ObjectNode row, String name, JsonNode times) {
        if (times.has("p50")) row.put(name, duration(times.path("p50")) + " / " + duration(times.path("p95")));
    }

    private static String duration(JsonNode millis) {
        return DurationText.text(Duration.ofMillis(Math.round(millis.asDouble())));
    }

    /** Returns the rate per second, minute or hour, so that a low one is not shown as 0. */
    static String rate(double perSecond) {
        if (perSecond == 0) return "0/s";
        if (perSecond >= 1) return threeFigures(perSecond) + "/s";
        return perSecond * 60 >= 1 ? threeFigures(perSecond * 60) + "/min" : threeFigures(perSecond * 3_600) + "/h";
    }

    /** Returns the number with three significant figures, and all of those before the point. */
    private static String threeFigures(double value) {
        int places = value >= 100 ? 0 : value >= 10 ? 1 : 2;
        return new BigDecimal(value)
                .setScale(places, RoundingMode.HALF_UP)
                .stripTrailingZeros()
                .toPlainString();
    }
}
