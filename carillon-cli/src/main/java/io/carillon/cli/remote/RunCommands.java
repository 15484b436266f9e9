package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.answer.RunText;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.EnqueueFlags;
import io.carillon.cli.remote.flags.JsonInput;
import io.carillon.cli.remote.flags.RunFilterFlags;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon run}. */
@Command(
        name = "run",
        description = "Enqueue, show and change runs.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class RunCommands extends RemoteCommandGroup {
    private static final List<String> ATTEMPT_COLUMNS =
            List.of("attempt", "outcome", "delivery.status", "startedAt", "took", "error", "node");
    private static final Set<String> LIVE_STATES = Set.of("waiting", "running");
    private static final long POLL_MILLIS = 500;

    RunCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Enqueue a run.", sortOptions = false)
    int enqueue(
            @Parameters(paramLabel = "HANDLER", arity = "0..1", description = "Handler that executes the run.")
                    @Nullable
                    String handler,
            @Mixin EnqueueFlags flags) {
        JsonNode made = client().post("/v1/runs", flags.json(handler));
        String run = made.path("run").stringValue("");
        boolean fresh = made.path("enqueued").booleanValue(true);
        printer()
                .printResult(
                        fresh
                                ? "Enqueued %s.".formatted(run)
                                : "%s already has the unique key; nothing was enqueued.".formatted(run),
                        made,
                        "run");
        ScheduleApplier.printWarnings(shell, made);
        return ExitCode.OK;
    }

    @Command(
            name = "enqueue-all",
            description = "Enqueue a run for each payload of a file, in batches of 1000. Each batch is enqueued "
                    + "completely or not at all.",
            sortOptions = false)
    int enqueueAll(
            @Parameters(paramLabel = "HANDLER", arity = "0..1", description = "Handler that executes the run.")
                    @Nullable
                    String handler,
            @Option(
                            names = {"-f", "--file"},
                            paramLabel = "FILE",
                            required = true,
                            description = "File with a JSON array of payloads; - is standard input.")
                    String file,
            @Mixin EnqueueFlags flags) {
        ApiClient apiClient = client();
        ArrayNode made = JsonNodeFactory.instance.arrayNode();
        for (ObjectNode batch : flags.batches(handler, file)) {
            try {
                JsonNode answer = apiClient.post("/v1/runs:batch", batch);
                if (made.isEmpty()) ScheduleApplier.printWarnings(shell, answer);
                answer.path("items").forEach(made::add);
            } catch (CommandException commandException) {
                if (made.isEmpty()) throw commandException;
                throw new CommandException(
                        ExitCode.PARTIAL,
                        "%d runs were enqueued, then the request failed: %s"
                                .formatted(made.size(), commandException.getMessage()),
                        commandException);
            }
        }
        Printer printer = printer();
        if (printer.isTable())
            printer.printResult("Enqueued %s.".formatted(RunText.runs(made.size())), emptyBody(), "run");
        else printer.printList(made.valueStream().toList(), "run", List.of("run"));
        return ExitCode.OK;
    }

    @Command(description = "Show a run.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "ID", description = "Id of the run.") String id,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        ApiClient apiClient = client();
        Printer printer = printer();
        return show(watch, () -> {
            JsonNode run = apiClient.get(ApiClient.path("runs", id));
            return printer.itemText(printer.isTable() ? RunText.withNextStep(run) : run, "id");
        });
    }

    @Command(description = "List runs: running and waiting ones, then ended ones, latest first.", sortOptions = false)
    int list(
            @Mixin RunFilterFlags filter,
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "20",
                            description = "Maximum number of items. Default: ${DEFAULT-VALUE}.")
                    int limit,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        return RunList.print(this, filter.query(), limit, watch);
    }

    @Command(
            description = "Cancel a run: immediately if it is waiting, by its node if it is running.",
            sortOptions = false)
    int cancel(
            @Parameters(paramLabel = "ID", description = "Id of the run.") String id,
            @Option(names = "--reason", paramLabel = "TEXT", description = "Reason, stored with the run.") @Nullable
                    String reason) {
        return cancel(this, id, reason);
    }

    /** Cancels a run and prints the result. */
    static int cancel(RemoteCommandGroup group, String id, @Nullable String reason) {
        JsonNode answer =
                group.client().post(ApiClient.path("runs", id, "cancel"), putIfGiven(emptyBody(), "reason", reason));
        boolean now = answer.path("state").stringValue("").equals("cancelled");
        group.printer()
                .printResult(
                        (now ? "Cancelled %s." : "%s is running; its node was asked to stop it.").formatted(id),
                        answer,
                        "state");
        return ExitCode.OK;
    }

    @Command(
            description =
                    "Execute a run on the server, if it is due, and wait for the attempt. Exit code 0: executed or "
                            + "ended, 10: the attempt failed, 5: it cannot be executed now.",
            sortOptions = false)
    int execute(@Parameters(paramLabel = "ID", description = "Id of the run.") String id) {
        JsonNode answer = client().post(ApiClient.path("runs", id, "execute"), emptyBody());
        printer().printResult(RunText.execution(id, answer), answer, "result");
        return switch (answer.path("result").stringValue("")) {
            case "executed" -> answer.path("failed").booleanValue(false) ? ExitCode.RUN_FAILED : ExitCode.OK;
            case "ended" -> ExitCode.OK;
            default -> ExitCode.CONFLICT;
        };
    }

    @Command(description = "Run a dead run again, as a new run.", sortOptions = false)
    int redrive(
            @Parameters(paramLabel = "ID", description = "Id of the run.") String id,
            @Option(
                            names = "--payload",
                            paramLabel = "JSON",
                            description = "Payload of the new run; @FILE reads a file. [redacted] in it keeps the "
                                    + "stored value. Default: the payload of the dead run.")
                    @Nullable
                    String payload) {
        ObjectNode body = emptyBody();
        if (payload != null) body.set("payload", JsonInput.parseOrReadFile("--payload", payload));
        JsonNode made = client().post(ApiClient.path("runs", id, "redrive"), body);
        printer().printResult("Redriven as %s.".formatted(made.path("run").stringValue("")), made, "run");
        return ExitCode.OK;
    }

    @Command(
            description = "Send the request of a webhook run again, with the same id. Exit code 0: delivered or "
                    + "accepted, 10: not.",
            sortOptions = false)
    int replay(@Parameters(paramLabel = "ID", description = "Id of the run.") String id) {
        JsonNode delivery = client().post(ApiClient.path("runs", id, "replay"), emptyBody());
        printer().printResult(WebhookCommands.sentence(delivery), delivery, "verdict");
        return WebhookCommands.isAccepted(delivery) ? ExitCode.OK : ExitCode.RUN_FAILED;
    }

    @Command(description = "Change the due time of a waiting run.", sortOptions = false)
    int reschedule(
            @Parameters(paramLabel = "ID", description = "Id of the run.") String id,
            @Option(names = "--at", paramLabel = "INSTANT", required = true, description = "New due time.") String at) {
        return postChange(
                "%s is due at %s.".formatted(id, at),
                "id",
                ApiClient.path("runs", id, "reschedule"),
                emptyBody().put("at", at));
    }

    @Command(description = "Explain why a run does not start, or how it ended.", sortOptions = false)
    int explain(@Parameters(paramLabel = "ID", description = "Id of the run.") String id) {
        JsonNode answer = client().get(ApiClient.path("runs", id, "explain"));
        printer().printResult(RunText.explanation(id, answer), answer, "state");
        return ExitCode.OK;
    }

    @Command(
            description =
                    "List the attempts of a run with their errors. Only the table shows the attempt that ended it.",
            sortOptions = false)
    int attempts(@Parameters(paramLabel = "ID", description = "Id of the run.") String id) {
        ApiClient apiClient = client();
        List<JsonNode> attempts = apiClient
                .get(ApiClient.path("runs", id, "attempts"))
                .path("items")
                .valueStream()
                .collect(Collectors.toCollection(ArrayList::new));
        Printer printer = printer().rows(RunCommands::attemptRow);
        if (printer.isTable())
            lastAttempt(apiClient.get(ApiClient.path("runs", id)), attempts).ifPresent(attempts::add);
        printer.printList(
                attempts,
                "attempt",
                printer.isWide() ? ATTEMPT_COLUMNS : ATTEMPT_COLUMNS.subList(0, ATTEMPT_COLUMNS.size() - 1));
        return ExitCode.OK;
    }

    /** Returns the attempt that ended the run or is being executed; the run has its fields. */
    private static Optional<JsonNode> lastAttempt(JsonNode run, List<JsonNode> earlier) {
        int number = run.path("attempt").intValue(0);
        boolean isListed = earlier.stream().anyMatch(one -> one.path("attempt").intValue(0) == number);
        if (number == 0 || isListed || !run.hasNonNull("startedAt")) return Optional.empty();
        ObjectNode last = emptyBody()
                .put("attempt", number)
                .put("outcome", run.path("state").stringValue(""));
        for (String field : List.of("startedAt", "endedAt", "delivery"))
            if (run.hasNonNull(field)) last.set(field, run.path(field));
        if (run.hasNonNull("reason")) last.set("error", run.path("reason"));
        return Optional.of(last);
    }

    private static JsonNode attemptRow(JsonNode attempt) {
        if (!attempt.hasNonNull("startedAt") || !attempt.hasNonNull("endedAt")) return attempt;
        Duration took = Duration.between(
                Instant.parse(attempt.path("startedAt").stringValue()),
                Instant.parse(attempt.path("endedAt").stringValue()));
        return ((ObjectNode) attempt.deepCopy()).put("took", took.toString());
    }

    @Command(
            name = "wait",
            description = "Wait until a run ends. Exit code 0: succeeded, 10: ended otherwise, 6: not ended in time.",
            sortOptions = false)
    int await(
            @Parameters(paramLabel = "ID", description = "Id of the run.") String id,
            @Option(
                            names = "--for",
                            paramLabel = "DURATION",
                            defaultValue = "5m",
                            description = "Maximum wait. Default: ${DEFAULT-VALUE}.")
                    String length) {
        Duration most = duration("--for", length);
        ApiClient apiClient = client();
        long start = System.nanoTime();
        while (!Thread.currentThread().isInterrupted()) {
            JsonNode run = apiClient.get(ApiClient.path("runs", id));
            String state = run.path("state").stringValue("");
            if (!LIVE_STATES.contains(state)) {
                printer().printResult(RunText.ending(id, run), run, "id");
                return state.equals("succeeded") ? ExitCode.OK : ExitCode.RUN_FAILED;
            }
            if (System.nanoTime() - start > most.toNanos())
                throw new CommandException(
                        ExitCode.TIMEOUT,
                        "%s is still %s after %s. 'carillon run explain %s' shows the reason."
                                .formatted(id, state, length, id));
            pause(POLL_MILLIS);
        }
        throw new CommandException(ExitCode.FAILED, "Interrupted.");
    }
}
