package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.answer.RunText;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.EnqueueFlags;
import io.carillon.cli.remote.flags.JsonBody;
import io.carillon.cli.remote.flags.JsonInput;
import io.carillon.cli.remote.flags.ListFlags;
import io.carillon.cli.remote.flags.RunFilterFlags;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon workflow}: runs that have recorded steps. The commands of {@code carillon run} apply to them too. */
@Command(
        name = "workflow",
        description = "Start, show, signal, cancel and retry workflows.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class WorkflowCommands extends RemoteCommandGroup {
    private static final List<String> STEP_COLUMNS =
            List.of("position", "step", "kind", "state", "recordedAt", "until", "description", "value", "error");
    /** The maximum number of steps that {@code get} shows. */
    private static final int SHOWN_STEPS = 1_000;
    /** How long the id of a workflow is held after its start at least, as in Java. */
    private static final String ID_HELD = "14d";

    WorkflowCommands(Shell shell) {
        super(shell);
    }

    @Command(
            description = "List workflows: running and waiting ones, then ended ones, latest first. A workflow is in "
                    + "the list when it has recorded a step.",
            sortOptions = false)
    int list(
            @Mixin RunFilterFlags filter,
            @Option(
                            names = "--id",
                            paramLabel = "ID",
                            description = "Only the workflow of --handler that was started with this id.")
                    @Nullable
                    String id,
            @Option(
                            names = "--stuck",
                            description = "Only workflows of which an attempt failed because their code does not match "
                                    + "their records.")
                    boolean stuck,
            @Option(
                            names = "--parent",
                            paramLabel = "RUN",
                            description = "Only the children of this workflow, without other filters.")
                    @Nullable
                    String parent,
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "20",
                            description = "Maximum number of items. Default: ${DEFAULT-VALUE}.")
                    int limit,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        Map<String, String> query = filter.query();
        // A workflow that was just started has no record yet.
        if (parent != null) query.put("parent", parent);
        else if (id == null) query.put("workflow", "true");
        if (id != null) query.put("key", id);
        if (stuck) query.put("stuck", "true");
        return RunList.print(this, query, limit, watch);
    }

    @Command(description = "Show a workflow with its steps.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "ID", description = "Id of the run.") String id,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        ApiClient apiClient = client();
        Printer printer = printer().rows(WorkflowCommands::stepRow);
        return show(watch, () -> {
            JsonNode run = apiClient.get(ApiClient.path("runs", id));
            List<JsonNode> steps = steps(apiClient, id, SHOWN_STEPS).items();
            if (printer.isTable())
                return printer.itemText(RunText.withNextStep(run), "id")
                        + (steps.isEmpty() ? "" : "\n\n" + printer.listText(steps, "position", STEP_COLUMNS));
            ObjectNode shown = (ObjectNode) run.deepCopy();
            shown.putArray("steps").addAll(steps);
            return printer.itemText(shown, "id");
        });
    }

    private static ApiClient.Items steps(ApiClient apiClient, String id, int limit) {
        return apiClient.list(ApiClient.path("runs", id, "steps"), Map.of(), limit);
    }

    @Command(
            description = "List the recorded steps and waits of a workflow, or show one with its whole value.",
            sortOptions = false)
    int steps(
            @Parameters(paramLabel = "ID", description = "Id of the run.") String id,
            @Option(
                            names = "--position",
                            paramLabel = "N",
                            description = "Position of the step to show, from 0. Default: list all steps.")
                    @Nullable
                    Integer position,
            @Mixin ListFlags flags) {
        if (position != null)
            return showItem(flags.watch(), "position", "runs", id, "steps", Integer.toString(position));
        return list(
                flags.watch(),
                new ListRequest(ApiClient.path("runs", id, "steps"), Map.of(), flags.limit()),
                "position",
                STEP_COLUMNS,
                WorkflowCommands::stepRow);
    }

    /** Returns the step with its name and key in one column, and the length of a value that the list leaves out. */
    private static JsonNode stepRow(JsonNode step) {
        if (!step.has("position")) return step;
        ObjectNode row = (ObjectNode) step.deepCopy();
        String key = step.path("key").stringValue("");
        row.put("step", step.path("name").stringValue("") + (key.isEmpty() ? "" : "[" + key + "]"));
        if (!step.has("value") && step.has("valueBytes"))
            row.put("value", "%d bytes".formatted(step.path("valueBytes").intValue()));
        return row;
    }

    @Command(description = "Start a workflow: enqueue a run of its handler.", sortOptions = false)
    int start(
            @Parameters(paramLabel = "NAME", description = "Name of the workflow.") String name,
            @Option(
                            names = "--id",
                            paramLabel = "ID",
                            description = "Id of the workflow. While a workflow of this name with the id has not "
                                    + "ended, and for 14 days after its start or --key-window, no other one starts.")
                    @Nullable
                    String id,
            @Option(names = "--parent", paramLabel = "RUN", description = "Start it as a child of this workflow.")
                    @Nullable
                    String parent,
            @Option(
                            names = "--signal",
                            paramLabel = "SIGNAL",
                            description = "Send this signal too: to the started workflow, or to the one that has the "
                                    + "id.")
                    @Nullable
                    String signal,
            @Option(
                            names = "--signal-value",
                            paramLabel = "JSON",
                            description = "Value of --signal; @FILE reads a file. Default: {}.")
                    @Nullable
                    String signalValue,
            @Option(
                            names = "--signal-id",
                            paramLabel = "ID",
                            description = "Id of --signal. The workflow gets at most one signal with it.")
                    @Nullable
                    String signalId,
            @Mixin EnqueueFlags flags) {
        ObjectNode body = flags.json(name);
        if (id != null) {
            if (body.has("key")) throw new UsageException("--id is the unique key of the workflow. Remove --key.");
            body.put("key", id);
            if (!body.has("keyWindow")) body.put("keyWindow", ID_HELD);
        }
        JsonBody.putIfGiven(body, "parent", parent);
        if (signal != null) body.set("signal", signalJson(signal, "--signal-value", signalValue, signalId));
        else if (signalValue != null || signalId != null)
            throw new UsageException("--signal-value and --signal-id need --signal.");
        JsonNode made = client().post("/v1/runs", body);
        String run = made.path("run").stringValue("");
        boolean fresh = made.path("enqueued").booleanValue(true);
        printer()
                .printResult(
                        (fresh
                                        ? "Started %s as %s.".formatted(name, run)
                                        : "%s already has the %s; nothing was started."
                                                .formatted(run, id == null ? "unique key" : "id"))
                                + signalText(signal, made),
                        made,
                        "run");
        ScheduleApplier.printWarnings(shell, made);
        return ExitCode.OK;
    }

    private static ObjectNode signalJson(String name, String valueOption, @Nullable String value, @Nullable String id) {
        ObjectNode json = JsonBody.emptyBody().put("name", name);
        if (value != null) json.set("value", JsonInput.parseOrReadFile(valueOption, value));
        JsonBody.putIfGiven(json, "id", id);
        return json;
    }

    private static String signalText(@Nullable String signal, JsonNode made) {
        if (signal == null) return "";
        return made.path("signal").stringValue("").equals("sent")
                ? " Sent signal %s.".formatted(signal)
                : " It already has a signal with this id.";
    }

    @Command(
            description = "Send a signal to a workflow, which keeps it until it awaits the signal.",
            sortOptions = false)
    int signal(
            @Parameters(paramLabel = "RUN", description = "Id of the run.") String run,
            @Parameters(paramLabel = "NAME", description = "Name of the signal.") String name,
            @Option(
                            names = "--value",
                            paramLabel = "JSON",
                            description = "Value of the signal; @FILE reads a file. Default: {}.")
                    @Nullable
                    String value,
            @Option(
                            names = "--id",
                            paramLabel = "ID",
                            description = "Id of the signal. The workflow gets at most one signal with it.")
                    @Nullable
                    String id) {
        ObjectNode body = signalJson(name, "--value", value, id);
        JsonNode answer = client().post(ApiClient.path("runs", run, "signals"), body);
        boolean sent = answer.path("result").stringValue("").equals("sent");
        printer()
                .printResult(
                        sent
                                ? "Sent signal %s to %s.".formatted(name, run)
                                : "%s already has a signal with this id; nothing was sent.".formatted(run),
                        answer,
                        "result");
        return ExitCode.OK;
    }

    @Command(
            description = "Cancel a workflow: immediately if it waits, after the step that is being executed if it "
                    + "is running.",
            sortOptions = false)
    int cancel(
            @Parameters(paramLabel = "ID", description = "Id of the run.") String id,
            @Option(names = "--reason", paramLabel = "TEXT", description = "Reason, stored with the run.") @Nullable
                    String reason) {
        return RunCommands.cancel(this, id, reason);
    }

    @Command(
            description = "Run a dead workflow again, as a new run that continues with the step that failed. If its "
                    + "steps were undone, it begins with the first one.",
            sortOptions = false)
    int retry(@Parameters(paramLabel = "ID", description = "Id of the run.") String id) {
        JsonNode made = client().post(
                        ApiClient.path("runs", id, "redrive"),
                        JsonBody.emptyBody().put("keepSteps", true));
        printer().printResult("Retried as %s.".formatted(made.path("run").stringValue("")), made, "run");
        return ExitCode.OK;
    }
}
