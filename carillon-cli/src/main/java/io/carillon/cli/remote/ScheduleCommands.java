package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.answer.RunText;
import io.carillon.cli.answer.ScheduleRow;
import io.carillon.cli.answer.TimelineChart;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.ListFlags;
import io.carillon.cli.remote.flags.ScheduleFlags;
import io.carillon.cli.remote.flags.WhenFlags;
import io.carillon.cli.screen.RenderOptions;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.TerminalWidth;
import io.carillon.cli.shell.UsageException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon schedule}. */
@Command(
        name = "schedule",
        description = "Create, show and change schedules.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class ScheduleCommands extends RemoteCommandGroup {
    private static final List<String> LEDGER_COLUMNS = List.of("from", "to", "count", "state", "run", "late", "reason");
    private static final List<String> PREVIEW_COLUMNS = List.of("at", "local", "mark");
    private static final Duration TIMELINE_REACH = Duration.ofDays(1);
    /** The width of a chart that does not go to a terminal. */
    private static final int DEFAULT_WIDTH = 120;

    private static final List<String> TIMELINE_COLUMNS = List.of("at", "schedule", "state", "count", "run", "mark");

    ScheduleCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Create a schedule. Fails if the name is in use.", sortOptions = false)
    int create(
            @Parameters(paramLabel = "NAME", description = "Name of the schedule.") String name,
            @Mixin ScheduleFlags flags) {
        JsonNode made = createSchedule(name, flags);
        Printer printer = printer();
        printer.printResult(
                "Created %s: %s, next run: %s.".formatted(name, description(made), nextText(made, printer)),
                made,
                "name");
        ScheduleApplier.printWarnings(shell, made);
        return ExitCode.OK;
    }

    private JsonNode createSchedule(String name, ScheduleFlags flags) {
        try {
            return client().put(ApiClient.path("schedules", name), flags.json(), Map.of("If-None-Match", "*"))
                    .body();
        } catch (CommandException refused) {
            if (refused.exitCode() != ExitCode.CONFLICT) throw refused;
            throw new CommandException(
                    ExitCode.CONFLICT,
                    ("Schedule %1$s already exists and was not changed. 'carillon schedule update %1$s' changes parts "
                                    + "of it, 'carillon schedule get %1$s' shows it.")
                            .formatted(name),
                    refused);
        }
    }

    private static String description(JsonNode schedule) {
        return schedule.path("description").stringValue("");
    }

    private static String nextText(JsonNode schedule, Printer printer) {
        JsonNode nextRuns = schedule.path("nextRuns");
        if (nextRuns.isMissingNode()) return "unknown";
        String next = nextRuns.path(0).stringValue("none");
        String relative = printer.timeText(next);
        return next.startsWith(relative) ? next : "%s (%s)".formatted(relative, next);
    }

    @Command(
            description = "Create or change schedules: one from options, or those of a file as 'schedule list' prints "
                    + "them with -o yaml or -o json.",
            sortOptions = false)
    int apply(
            @Parameters(paramLabel = "NAME", arity = "0..1") @Nullable String name,
            @Option(
                            names = {"-f", "--file"},
                            paramLabel = "FILE",
                            description =
                                    "File with a schedule or a list of schedules in YAML or JSON; - is standard input.")
                    @Nullable
                    String file,
            @Mixin ScheduleFlags flags) {
        return new ScheduleApplier(shell, client(), printer())
                .applyAll(ScheduleApplier.readSchedules(name, file, flags));
    }

    @Command(
            description =
                    "Change parts of a schedule; the rest stays. Fails if another client changes it at the same time.",
            sortOptions = false)
    int update(
            @Parameters(paramLabel = "NAME", description = "Name of the schedule.") String name,
            @Mixin ScheduleFlags flags,
            @Option(
                            names = "--clear",
                            paramLabel = "FLAG",
                            split = ",",
                            description = "Options to reset to their defaults, such as jitter,until.")
                    @Nullable
                    List<String> cleared) {
        ScheduleApplier.printWarnings(
                shell,
                new ScheduleUpdater(client(), printer()).update(name, flags, cleared == null ? List.of() : cleared));
        return ExitCode.OK;
    }

    @Command(description = "Show a schedule.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "NAME", description = "Name of the schedule.") String name,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        return showItem(watch, "name", "schedules", name);
    }

    @Command(description = "List schedules.", sortOptions = false)
    int list(@Mixin ListFlags flags) {
        return list(
                flags.watch(),
                new ListRequest("/v1/schedules", Map.of(), flags.limit()),
                "name",
                ScheduleRow.COLUMNS,
                ScheduleRow::of);
    }

    @Command(description = "Pause a schedule: its instants are skipped until it is resumed.", sortOptions = false)
    int pause(
            @Parameters(paramLabel = "NAME", description = "Name of the schedule.") String name,
            @Option(names = "--reason", paramLabel = "TEXT", description = "Reason, shown with the pause.") @Nullable
                    String reason,
            @Option(
                            names = "--until",
                            paramLabel = "INSTANT",
                            description = "Instant at which the schedule resumes automatically.")
                    @Nullable
                    String until) {
        ObjectNode body = putIfGiven(putIfGiven(emptyBody(), "reason", reason), "until", until);
        return postChange("Paused %s.".formatted(name), "name", ApiClient.path("schedules", name, "pause"), body);
    }

    @Command(description = "Resume a schedule.", sortOptions = false)
    int resume(@Parameters(paramLabel = "NAME", description = "Name of the schedule.") String name) {
        return postChange(
                "Resumed %s.".formatted(name), "name", ApiClient.path("schedules", name, "resume"), emptyBody());
    }

    @Command(description = "Trigger a run of a schedule now.", sortOptions = false)
    int trigger(@Parameters(paramLabel = "NAME", description = "Name of the schedule.") String name) {
        JsonNode made = client().post(ApiClient.path("schedules", name, "trigger"), emptyBody());
        printer()
                .printResult(
                        "Triggered %s as %s.".formatted(name, made.path("run").stringValue("")), made, "run");
        return ExitCode.OK;
    }

    @Command(description = "Create runs for the planned instants of a past time range.", sortOptions = false)
    int backfill(
            @Parameters(paramLabel = "NAME", description = "Name of the schedule.") String name,
            @Option(
                            names = "--from",
                            paramLabel = "INSTANT",
                            required = true,
                            description = "First instant of the range.")
                    String from,
            @Option(names = "--to", paramLabel = "INSTANT", required = true, description = "Last instant of the range.")
                    String to,
            @Option(names = "--dry-run", description = "Only count the runs.") boolean dry,
            @Option(
                            names = "--dropped-history",
                            paramLabel = "refuse|run",
                            description =
                                    "Policy for instants whose history was dropped and that may have run already. "
                                            + "Default: refuse.")
                    @Nullable
                    String dropped) {
        ObjectNode body = emptyBody().put("from", from).put("to", to).put("dryRun", dry);
        JsonNode answer = client().post(
                        ApiClient.path("schedules", name, "backfill"), putIfGiven(body, "droppedHistory", dropped));
        long runs = answer.path("runs").longValue();
        String sentence = dry ? "%s would be created." : runs == 1 ? "%s was created." : "%s were created.";
        printer().printResult(sentence.formatted(RunText.runs(runs)), answer, "runs");
        return ExitCode.OK;
    }

    @Command(
            description = "Describe a timing and list its next runs, computed by the server. Nothing is stored.",
            sortOptions = false)
    int preview(
            @Mixin WhenFlags when,
            @Option(
                            names = "--after",
                            paramLabel = "INSTANT",
                            description = "Show runs after this instant. Default: now.")
                    @Nullable
                    String after,
            @Option(
                            names = {"-n", "--count"},
                            paramLabel = "N",
                            defaultValue = "10",
                            description = "Number of runs to show. Default: ${DEFAULT-VALUE}.")
                    int count) {
        ObjectNode body = putIfGiven(emptyBody().put("count", count), "after", after);
        body.set("when", when.json());
        JsonNode answer = client().post("/v1/schedules:preview", body);
        shell.err().println(description(answer) + " (" + answer.path("zone").stringValue("") + ")");
        ScheduleApplier.printWarnings(shell, answer);
        printer()
                .absolute()
                .rows(ScheduleCommands::previewRow)
                .printList(answer.path("entries").valueStream().toList(), "at", PREVIEW_COLUMNS);
        return ExitCode.OK;
    }

    /** Returns the instant without the mark of an ordinary one. */
    private static JsonNode previewRow(JsonNode entry) {
        if (!entry.path("mark").stringValue("").equals("none")) return entry;
        return ((ObjectNode) entry.deepCopy()).without("mark");
    }

    @Command(
            description =
                    "Delete a schedule with its waiting ticks and backfill runs. Runs that have started " + "continue.",
            sortOptions = false)
    int delete(@Parameters(paramLabel = "NAME", description = "Name of the schedule.") String name) {
        return deleteItem("Deleted %s.".formatted(name), "name", name, ApiClient.path("schedules", name));
    }

    @Command(aliases = "history", description = "Show the outcome of each planned instant.", sortOptions = false)
    int ledger(
            @Parameters(paramLabel = "NAME", description = "Name of the schedule.") String name,
            @Option(
                            names = "--from",
                            paramLabel = "INSTANT",
                            description = "Start of the range. Default: one day before its end.")
                    @Nullable
                    String from,
            @Option(names = "--to", paramLabel = "INSTANT", description = "End of the range. Default: now.") @Nullable
                    String to) {
        JsonNode answer =
                client().get(ApiClient.path("schedules", name, "ledger") + ApiClient.query(rangeQuery(from, to)));
        printer()
                .absolute()
                .rows(ScheduleCommands::ledgerRow)
                .printList(answer.path("items").valueStream().toList(), "from", LEDGER_COLUMNS);
        return ExitCode.OK;
    }

    /** Returns the entry; the end and the count of a single instant say nothing. */
    private static JsonNode ledgerRow(JsonNode entry) {
        if (entry.path("count").longValue(0) > 1) return entry;
        return ((ObjectNode) entry.deepCopy()).without(List.of("to", "count"));
    }

    @Command(description = "Show past and future instants of all schedules in one timeline.", sortOptions = false)
    int timeline(
            @Option(
                            names = "--from",
                            paramLabel = "INSTANT",
                            description = "Start of the timeline. Default: one day ago.")
                    @Nullable
                    String from,
            @Option(names = "--to", paramLabel = "INSTANT", description = "End of the timeline. Default: in a day.")
                    @Nullable
                    String to,
            @Option(
                            names = "--around",
                            paramLabel = "DURATION",
                            description = "Show the timeline from this time ago to this time ahead. Default: 1d.")
                    @Nullable
                    String around) {
        ApiClient apiClient = client();
        TimelineChart.Range range = timelineRange(from, to, around);
        List<JsonNode> rows = apiClient
                .list(
                        "/v1/timeline",
                        rangeQuery(range.from().toString(), range.to().toString()),
                        Integer.MAX_VALUE)
                .items();
        if (printer().isTable()) return drawTimeline(rows, range);
        List<JsonNode> lines = new ArrayList<>();
        for (JsonNode row : rows) {
            String name = row.path("schedule").stringValue("");
            row.path("past").forEach(entry -> lines.add(pastEntry(name, (ObjectNode) entry)));
            row.path("coming").forEach(entry -> lines.add(futureEntry(name, (ObjectNode) entry)));
        }
        lines.sort(Comparator.comparing(line -> Instant.parse(line.path("at").stringValue(""))));
        printer().printList(lines, "schedule", TIMELINE_COLUMNS);
        return ExitCode.OK;
    }

    private TimelineChart.Range timelineRange(@Nullable String from, @Nullable String to, @Nullable String around) {
        if (around != null && (from != null || to != null))
            throw new UsageException("Give --around, or --from and --to, not both.");
        Instant now = shell.clock().instant();
        Duration reach = around == null ? TIMELINE_REACH : duration("--around", around);
        Instant start = from == null ? now.minus(reach) : instant("--from", from);
        Instant end = to == null ? (start.isAfter(now) ? start : now).plus(reach) : instant("--to", to);
        if (!start.isBefore(end)) throw new UsageException("--to must be after --from (was %s).".formatted(end));
        return new TimelineChart.Range(start, now, end);
    }

    private int drawTimeline(List<JsonNode> rows, TimelineChart.Range range) {
        if (rows.isEmpty()) shell.err().println("No items found.");
        else
            shell.out()
                    .println(TimelineChart.draw(
                            rows,
                            range,
                            TerminalWidth.of(shell).orElse(DEFAULT_WIDTH),
                            RenderOptions.of(shell.environment())));
        return ExitCode.OK;
    }

    private static Instant instant(String flag, String text) {
        try {
            return OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException wrong) {
            throw new UsageException(
                    "%s must be an instant such as 2026-03-28T00:00:00Z (was '%s').".formatted(flag, text), wrong);
        }
    }

    private static Map<String, String> rangeQuery(@Nullable String from, @Nullable String to) {
        Map<String, String> query = new LinkedHashMap<>();
        if (from != null) query.put("from", from);
        if (to != null) query.put("to", to);
        return query;
    }

    private static ObjectNode pastEntry(String schedule, ObjectNode entry) {
        return emptyBody()
                .put("schedule", schedule)
                .put("at", entry.path("from").stringValue(""))
                .setAll(entry);
    }

    private static ObjectNode futureEntry(String schedule, ObjectNode entry) {
        return emptyBody().put("schedule", schedule).put("state", "upcoming").setAll(entry);
    }
}
