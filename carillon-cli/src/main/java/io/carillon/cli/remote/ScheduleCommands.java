package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.ScheduleFlags;
import io.carillon.cli.remote.flags.WhenFlags;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.time.Instant;
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
    private static final List<String> COLUMNS =
            List.of("name", "description", "target", "nextRuns.0", "lastRun.state", "paused.reason");
    private static final List<String> LEDGER_COLUMNS = List.of("from", "to", "count", "state", "reason", "run", "late");
    private static final List<String> PREVIEW_COLUMNS = List.of("at", "local", "mark");
    private static final List<String> TIMELINE_COLUMNS = List.of("at", "schedule", "state", "count", "run", "mark");

    ScheduleCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Create a schedule. Fails if the name is in use.", sortOptions = false)
    int create(@Parameters(paramLabel = "NAME") String name, @Mixin ScheduleFlags flags) {
        JsonNode made = createSchedule(name, flags);
        printer()
                .printResult(
                        "Created %s: %s, next run: %s.".formatted(name, description(made), nextText(made)),
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
                    ("Schedule %s already exists and was not changed. 'carillon schedule apply' changes it, 'get' "
                                    + "shows it.")
                            .formatted(name),
                    refused);
        }
    }

    private static String description(JsonNode schedule) {
        return schedule.path("description").stringValue("");
    }

    private static String nextText(JsonNode schedule) {
        return schedule.path("nextRuns").path(0).stringValue("none");
    }

    @Command(
            description = "Create or change schedules: one from options, or those of a file in the format of 'schedule "
                    + "list -o json'.",
            sortOptions = false)
    int apply(
            @Parameters(paramLabel = "NAME", arity = "0..1") @Nullable String name,
            @Option(
                            names = {"-f", "--file"},
                            paramLabel = "FILE",
                            description = "File with a schedule or an array of schedules in JSON; - is standard input.")
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
            @Parameters(paramLabel = "NAME") String name,
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
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        ApiClient apiClient = client();
        Printer printer = printer();
        return show(watch, () -> printer.itemText(apiClient.get(ApiClient.path("schedules", name)), "name"));
    }

    @Command(description = "List schedules.", sortOptions = false)
    int list(
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "100",
                            description = "Maximum number of items. Default: ${DEFAULT-VALUE}.")
                    int limit,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        return list(watch, new ListRequest("/v1/schedules", Map.of(), limit), "name", COLUMNS);
    }

    @Command(description = "Pause a schedule: its instants are skipped until it is resumed.", sortOptions = false)
    int pause(
            @Parameters(paramLabel = "NAME") String name,
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
    int resume(@Parameters(paramLabel = "NAME") String name) {
        return postChange(
                "Resumed %s.".formatted(name), "name", ApiClient.path("schedules", name, "resume"), emptyBody());
    }

    @Command(description = "Trigger a run of a schedule now.", sortOptions = false)
    int trigger(@Parameters(paramLabel = "NAME") String name) {
        JsonNode made = client().post(ApiClient.path("schedules", name, "trigger"), emptyBody());
        printer()
                .printResult(
                        "Triggered %s as %s.".formatted(name, made.path("run").stringValue("")), made, "run");
        return ExitCode.OK;
    }

    @Command(description = "Create runs for the planned instants of a past time range.", sortOptions = false)
    int backfill(
            @Parameters(paramLabel = "NAME") String name,
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
        String sentence = dry ? "%s runs would be created." : "%s runs were created.";
        printer().printResult(sentence.formatted(answer.path("runs")), answer, "runs");
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
        printer().printList(answer.path("entries").valueStream().toList(), "at", PREVIEW_COLUMNS);
        return ExitCode.OK;
    }

    @Command(
            description =
                    "Delete a schedule with its waiting ticks and backfill runs. Runs that have started " + "continue.",
            sortOptions = false)
    int delete(@Parameters(paramLabel = "NAME") String name) {
        return deleteItem("Deleted %s.".formatted(name), "name", name, ApiClient.path("schedules", name));
    }

    @Command(aliases = "history", description = "Show the outcome of each planned instant.", sortOptions = false)
    int ledger(
            @Parameters(paramLabel = "NAME") String name,
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
        printer().printList(answer.path("items").valueStream().toList(), "from", LEDGER_COLUMNS);
        return ExitCode.OK;
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
                    String to) {
        List<JsonNode> lines = new ArrayList<>();
        for (JsonNode row : client().list("/v1/timeline", rangeQuery(from, to), Integer.MAX_VALUE)
                .items()) {
            String name = row.path("schedule").stringValue("");
            row.path("past").forEach(entry -> lines.add(pastEntry(name, (ObjectNode) entry)));
            row.path("coming").forEach(entry -> lines.add(futureEntry(name, (ObjectNode) entry)));
        }
        lines.sort(Comparator.comparing(line -> Instant.parse(line.path("at").stringValue(""))));
        printer().printList(lines, "schedule", TIMELINE_COLUMNS);
        return ExitCode.OK;
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
