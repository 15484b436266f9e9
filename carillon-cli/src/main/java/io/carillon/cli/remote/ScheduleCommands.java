package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.Client;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Failure;
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
        description = "Create, look at and change schedules.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class ScheduleCommands extends RemoteGroup {
    private static final List<String> COLUMNS =
            List.of("name", "description", "target", "nextRuns.0", "lastRun.state", "paused.reason");
    private static final List<String> ENTRIES = List.of("from", "to", "count", "state", "reason", "run", "late");
    private static final List<String> PREVIEW = List.of("at", "local", "mark");
    private static final List<String> TIMES = List.of("at", "schedule", "state", "count", "run", "mark");

    ScheduleCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Create a schedule; refused if there is one of this name.", sortOptions = false)
    int create(@Parameters(paramLabel = "NAME") String name, @Mixin ScheduleForm form) {
        JsonNode made = created(name, form);
        printer().done("Created %s: %s, next at %s.".formatted(name, description(made), next(made)), made, "name");
        ScheduleApply.warn(shell, made);
        return ExitCode.OK;
    }

    private JsonNode created(String name, ScheduleForm form) {
        try {
            return client().put(Client.path("schedules", name), form.json(), Map.of("If-None-Match", "*"))
                    .body();
        } catch (Failure refused) {
            if (refused.exit() != ExitCode.CONFLICT) throw refused;
            throw new Failure(
                    ExitCode.CONFLICT,
                    "There is a schedule %s already, and it stays as it is. 'carillon schedule apply' changes it, 'get' shows it."
                            .formatted(name),
                    refused);
        }
    }

    private static String description(JsonNode schedule) {
        return schedule.path("description").stringValue("");
    }

    private static String next(JsonNode schedule) {
        return schedule.path("nextRuns").path(0).stringValue("no time to come");
    }

    @Command(
            description =
                    "Create or change schedules: one by flags, or those of a file as 'schedule list -o json' writes it.",
            sortOptions = false)
    int apply(
            @Parameters(paramLabel = "NAME", arity = "0..1") @Nullable String name,
            @Option(
                            names = {"-f", "--file"},
                            paramLabel = "FILE",
                            description = "JSON: a schedule, or several in []; - is standard input.")
                    @Nullable
                    String file,
            @Mixin ScheduleForm form) {
        return new ScheduleApply(shell, client(), printer()).all(ScheduleApply.wanted(name, file, form));
    }

    @Command(
            description =
                    "Change a part of a schedule; what is not said stays. Refused if somebody changes it meanwhile.",
            sortOptions = false)
    int update(
            @Parameters(paramLabel = "NAME") String name,
            @Mixin ScheduleForm form,
            @Option(
                            names = "--clear",
                            paramLabel = "FLAG",
                            split = ",",
                            description = "Back to the default: what these flags had set, such as jitter,until.")
                    @Nullable
                    List<String> cleared) {
        ScheduleApply.warn(
                shell, new ScheduleUpdate(client(), printer()).one(name, form, cleared == null ? List.of() : cleared));
        return ExitCode.OK;
    }

    @Command(description = "Show one schedule.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--watch", description = "Show it anew when it changes, until Ctrl-C.") boolean watch) {
        Client client = client();
        Printer printer = printer();
        return shown(watch, () -> printer.shown(client.get(Client.path("schedules", name)), "name"));
    }

    @Command(description = "List schedules.", sortOptions = false)
    int list(
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "100",
                            description = "How many at most. Default: ${DEFAULT-VALUE}.")
                    int limit,
            @Option(names = "--watch", description = "Show them anew when they change, until Ctrl-C.") boolean watch) {
        return list(watch, new Wanted("/v1/schedules", Map.of(), limit), "name", COLUMNS);
    }

    @Command(description = "Pause a schedule: its instants are skipped until it is resumed.", sortOptions = false)
    int pause(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for those who wonder later.") @Nullable
                    String reason,
            @Option(names = "--until", paramLabel = "INSTANT", description = "Resume by itself then.") @Nullable
                    String until) {
        ObjectNode body = with(with(body(), "reason", reason), "until", until);
        return changed("Paused %s.".formatted(name), "name", Client.path("schedules", name, "pause"), body);
    }

    @Command(description = "Resume a schedule.", sortOptions = false)
    int resume(@Parameters(paramLabel = "NAME") String name) {
        return changed("Resumed %s.".formatted(name), "name", Client.path("schedules", name, "resume"), body());
    }

    @Command(description = "Run a schedule once, now.", sortOptions = false)
    int trigger(@Parameters(paramLabel = "NAME") String name) {
        JsonNode made = client().post(Client.path("schedules", name, "trigger"), body());
        printer().done("Triggered %s as %s.".formatted(name, made.path("run").stringValue("")), made, "run");
        return ExitCode.OK;
    }

    @Command(description = "Run the instants of a time that has passed.", sortOptions = false)
    int backfill(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--from", paramLabel = "INSTANT", required = true, description = "The first instant.")
                    String from,
            @Option(names = "--to", paramLabel = "INSTANT", required = true, description = "The last instant.")
                    String to,
            @Option(names = "--dry-run", description = "Only count them.") boolean dry,
            @Option(
                            names = "--dropped-history",
                            paramLabel = "WORD",
                            description =
                                    "What to do about instants whose history was dropped and that may have run already: refuse or run. Default: refuse.")
                    @Nullable
                    String dropped) {
        ObjectNode body = body().put("from", from).put("to", to).put("dryRun", dry);
        JsonNode answer =
                client().post(Client.path("schedules", name, "backfill"), with(body, "droppedHistory", dropped));
        String sentence = dry ? "%s runs would be made." : "%s runs were made.";
        printer().done(sentence.formatted(answer.path("runs")), answer, "runs");
        return ExitCode.OK;
    }

    @Command(
            description = "Show what a timing means and its next runs, by the server; nothing is stored.",
            sortOptions = false)
    int preview(
            @Mixin WhenForm when,
            @Option(
                            names = "--after",
                            paramLabel = "INSTANT",
                            description = "Runs after this instant; now unless said.")
                    @Nullable
                    String after,
            @Option(
                            names = {"-n", "--count"},
                            paramLabel = "N",
                            defaultValue = "10",
                            description = "How many. Default: ${DEFAULT-VALUE}.")
                    int count) {
        ObjectNode body = with(body().put("count", count), "after", after);
        body.set("when", when.json());
        JsonNode answer = client().post("/v1/schedules:preview", body);
        shell.err().println(description(answer) + " (" + answer.path("zone").stringValue("") + ")");
        ScheduleApply.warn(shell, answer);
        printer().list(answer.path("entries").valueStream().toList(), "at", PREVIEW);
        return ExitCode.OK;
    }

    @Command(description = "Delete a schedule; what runs goes on, what waits is skipped.", sortOptions = false)
    int delete(@Parameters(paramLabel = "NAME") String name) {
        return gone("Deleted %s.".formatted(name), "name", name, Client.path("schedules", name));
    }

    @Command(
            aliases = "history",
            description = "Show what became of each planned instant; the last day unless said.",
            sortOptions = false)
    int ledger(
            @Parameters(paramLabel = "NAME") String name,
            @Option(names = "--from", paramLabel = "INSTANT", description = "Instants from then on.") @Nullable
                    String from,
            @Option(names = "--to", paramLabel = "INSTANT", description = "Instants up to then.") @Nullable String to) {
        JsonNode answer = client().get(Client.path("schedules", name, "ledger") + Client.query(between(from, to)));
        printer().list(answer.path("items").valueStream().toList(), "from", ENTRIES);
        return ExitCode.OK;
    }

    @Command(
            description = "Show all schedules on one axis of time: what became of instants, and those to come.",
            sortOptions = false)
    int timeline(
            @Option(names = "--from", paramLabel = "INSTANT", description = "From then on; a day ago unless said.")
                    @Nullable
                    String from,
            @Option(names = "--to", paramLabel = "INSTANT", description = "Up to then; in a day unless said.") @Nullable
                    String to) {
        List<JsonNode> lines = new ArrayList<>();
        for (JsonNode row : client().list("/v1/timeline", between(from, to), Integer.MAX_VALUE)
                .items()) {
            String name = row.path("schedule").stringValue("");
            row.path("past").forEach(entry -> lines.add(over(name, (ObjectNode) entry)));
            row.path("coming").forEach(entry -> lines.add(toCome(name, (ObjectNode) entry)));
        }
        lines.sort(Comparator.comparing(line -> Instant.parse(line.path("at").stringValue(""))));
        printer().list(lines, "schedule", TIMES);
        return ExitCode.OK;
    }

    private static Map<String, String> between(@Nullable String from, @Nullable String to) {
        Map<String, String> query = new LinkedHashMap<>();
        if (from != null) query.put("from", from);
        if (to != null) query.put("to", to);
        return query;
    }

    private static ObjectNode over(String schedule, ObjectNode entry) {
        return body().put("schedule", schedule)
                .put("at", entry.path("from").stringValue(""))
                .setAll(entry);
    }

    private static ObjectNode toCome(String schedule, ObjectNode entry) {
        return body().put("schedule", schedule).put("state", "to come").setAll(entry);
    }
}
