package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.answer.RunText;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.AllowedValues;
import io.carillon.cli.screen.Terminal;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Program;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon bulk}. */
@Command(
        name = "bulk",
        description = "Change all matching runs. The server continues the work even if this command ends.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class BulkCommands extends RemoteCommandGroup {
    private static final Set<String> ENDED_STATES = Set.of("dead", "quarantined");
    private static final String PATH = "/v1/bulk-actions";
    private static final long FIRST_POLL_MILLIS = 100;
    private static final long POLL_MILLIS = 500;
    /** Without a terminal, a line is printed at most every so many polls. */
    private static final int POLLS_PER_LINE = 10;

    BulkCommands(Shell shell) {
        super(shell);
    }

    /** The options that confirm a bulk action. */
    static final class Consent {
        @Option(
                names = "--yes",
                description = "Execute the action. Without it, the command only counts the matching runs.")
        private boolean yes;

        @Option(names = "--no-wait", description = "Start the action and exit without waiting for its end.")
        private boolean noWait;
    }

    /** The options that select runs. */
    static final class Filter {
        @Option(
                names = "--state",
                paramLabel = "STATE",
                required = true,
                description = "State of the runs: waiting, running, dead or quarantined.")
        private String state = "";

        @Option(names = "--queue", paramLabel = "NAME", description = "Filter by queue.")
        private @Nullable String queue;

        @Option(names = "--handler", paramLabel = "NAME", description = "Filter by handler.")
        private @Nullable String handler;

        ObjectNode request(String action) {
            AllowedValues.require("--state", state, List.of("waiting", "running", "dead", "quarantined"));
            ObjectNode body = emptyBody().put("action", action);
            ObjectNode filter = body.putObject("filter").put("state", state);
            putIfGiven(filter, "queue", queue);
            putIfGiven(filter, "handler", handler);
            return body;
        }
    }

    @Command(description = "Count the matching runs.", sortOptions = false)
    int count(@Mixin Filter filter) {
        // The server counts runs for an action. The dry run does not execute it; it only has to be allowed
        // in this state.
        String action = ENDED_STATES.contains(filter.state) ? "redrive" : "cancel";
        JsonNode answer = client().post(PATH, filter.request(action).put("dryRun", true));
        printer().printResult(countText(answer), answer, "matching");
        return ExitCode.OK;
    }

    @Command(description = "Cancel waiting or running runs.", sortOptions = false)
    int cancel(@Mixin Filter filter, @Mixin Consent consent) {
        return startBulk(filter.request("cancel"), consent, "cancelled");
    }

    @Command(description = "Run dead or quarantined runs again, as new runs.", sortOptions = false)
    int redrive(@Mixin Filter filter, @Mixin Consent consent) {
        return startBulk(filter.request("redrive"), consent, "redriven");
    }

    @Command(description = "Delete dead or quarantined runs permanently.", sortOptions = false)
    int delete(@Mixin Filter filter, @Mixin Consent consent) {
        return startBulk(filter.request("delete"), consent, "deleted");
    }

    @Command(description = "Change the due time of waiting runs.", sortOptions = false)
    int reschedule(
            @Mixin Filter filter,
            @Option(names = "--at", paramLabel = "INSTANT", required = true, description = "New due time.") String at,
            @Mixin Consent consent) {
        return startBulk(filter.request("reschedule").put("at", at), consent, "rescheduled");
    }

    @Command(description = "List the bulk actions of the last month.", sortOptions = false)
    int list(
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "50",
                            description = "Maximum number of items. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        return list(
                false,
                new ListRequest(PATH, Map.of(), limit),
                "id",
                List.of("id", "action", "state", "done", "createdAt"));
    }

    @Command(description = "Show the progress of a bulk action.", sortOptions = false)
    int get(@Parameters(paramLabel = "ID") String id) {
        return showItem(false, "id", "bulk-actions", id);
    }

    @Command(description = "Abort a bulk action. Runs that it has changed stay changed.", sortOptions = false)
    int abort(@Parameters(paramLabel = "ID") String id) {
        return postChange(
                "Bulk action %s was aborted.".formatted(id),
                "id",
                ApiClient.path("bulk-actions", id, "abort"),
                emptyBody());
    }

    private int startBulk(ObjectNode request, Consent consent, String done) {
        ApiClient apiClient = client();
        if (!consent.yes)
            throw new UsageException("%s and would be %s. Add --yes to execute the action."
                    .formatted(matchText(apiClient.post(PATH, request.deepCopy().put("dryRun", true))), done));
        JsonNode action = apiClient.post(PATH, request);
        String id = action.path("id").stringValue("");
        if (consent.noWait) {
            printer().printResult("Bulk action %s was started.".formatted(id), action, "id");
            return ExitCode.OK;
        }
        JsonNode ended = watch(apiClient, action, id);
        String state = ended.path("state").stringValue("");
        long count = ended.path("done").longValue();
        printer()
                .printResult(
                        "%s %s %s.%s"
                                .formatted(
                                        RunText.runs(count),
                                        count == 1 ? "was" : "were",
                                        done,
                                        state.equals("done") ? "" : " The bulk action is " + state + "."),
                        ended,
                        "id");
        return state.equals("done") ? ExitCode.OK : ExitCode.PARTIAL;
    }

    /**
     * Shows the number of changed runs until the action ends: in one line on a terminal, otherwise a line from time to
     * time. The total is not known, because the server does not count the runs first. The action does not depend on
     * this command.
     */
    private JsonNode watch(ApiClient apiClient, JsonNode begun, String id) {
        boolean terminal = Terminal.current(shell.environment()).isPresent();
        JsonNode action = begun;
        String last = "";
        for (int polls = 0; isRunning(action) && !Thread.currentThread().isInterrupted(); polls++) {
            if (polls == 1 && !terminal)
                shell.err()
                        .println(Program.inText(
                                "carillon: bulk action %s runs on the server; 'carillon bulk abort %s' aborts it."
                                        .formatted(id, id)));
            String line = progressText(action);
            if (terminal) shell.replaceLine(line);
            else if (polls % POLLS_PER_LINE == POLLS_PER_LINE - 1 && !line.equals(last))
                shell.err().println("carillon: " + (last = line));
            pause(polls == 0 ? FIRST_POLL_MILLIS : POLL_MILLIS);
            action = poll(apiClient, id);
        }
        if (terminal) shell.replaceLine("");
        return action;
    }

    private static JsonNode poll(ApiClient apiClient, String id) {
        try {
            return apiClient.get(ApiClient.path("bulk-actions", id));
        } catch (CommandException commandException) {
            throw new CommandException(
                    commandException.exitCode(),
                    "%s The bulk action continues; 'carillon bulk get %s' shows its progress."
                            .formatted(commandException.getMessage(), id),
                    commandException);
        }
    }

    /** Returns the number of matching runs. The server reads a limited number of runs: {@code 7+} means 7 or more. */
    private static String countText(JsonNode answer) {
        return answer.path("matching").longValue() + (answer.path("more").booleanValue(false) ? "+" : "");
    }

    private static String matchText(JsonNode answer) {
        boolean more = answer.path("more").booleanValue(false);
        long count = answer.path("matching").longValue();
        return "%s%s %s".formatted(more ? "At least " : "", RunText.runs(count), count == 1 ? "matches" : "match");
    }

    private static String progressText(JsonNode action) {
        return RunText.runs(action.path("done").longValue()) + " changed";
    }

    private static boolean isRunning(JsonNode action) {
        return action.path("state").stringValue("").equals("running");
    }
}
