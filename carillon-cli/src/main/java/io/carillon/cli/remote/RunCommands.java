package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.Client;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Failure;
import io.carillon.cli.shell.Shell;
import java.time.Duration;
import java.util.List;
import java.util.Set;
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
        description = "Enqueue, look at and change runs.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class RunCommands extends RemoteGroup {
    private static final List<String> COLUMNS =
            List.of("id", "state", "target", "queue", "attempt", "dueAt", "endedAt");
    private static final List<String> ATTEMPTS =
            List.of("attempt", "outcome", "delivery.status", "startedAt", "endedAt", "node", "error");
    private static final Set<String> LIVING = Set.of("waiting", "running");
    private static final long WAIT_MILLIS = 500;

    RunCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Enqueue a run.", sortOptions = false)
    int enqueue(
            @Parameters(paramLabel = "HANDLER", arity = "0..1", description = "The handler that does the work.")
                    @Nullable
                    String handler,
            @Mixin EnqueueForm form) {
        JsonNode made = client().post("/v1/runs", form.json(handler));
        String run = made.path("run").stringValue("");
        boolean fresh = made.path("enqueued").booleanValue(true);
        printer()
                .done(
                        fresh
                                ? "Enqueued %s.".formatted(run)
                                : "%s holds the key already; nothing was enqueued.".formatted(run),
                        made,
                        "run");
        return ExitCode.OK;
    }

    @Command(
            name = "enqueue-all",
            description =
                    "Enqueue a run for each payload of a file, a thousand at a time, each thousand whole or not at all.",
            sortOptions = false)
    int enqueueAll(
            @Parameters(paramLabel = "HANDLER", arity = "0..1", description = "The handler that does the work.")
                    @Nullable
                    String handler,
            @Option(
                            names = {"-f", "--file"},
                            paramLabel = "FILE",
                            required = true,
                            description = "JSON: payloads in []; - is standard input.")
                    String file,
            @Mixin EnqueueForm form) {
        Client client = client();
        ArrayNode made = JsonNodeFactory.instance.arrayNode();
        for (ObjectNode batch : form.batches(handler, file)) {
            try {
                client.post("/v1/runs:batch", batch).path("items").forEach(made::add);
            } catch (Failure failure) {
                if (made.isEmpty()) throw failure;
                throw new Failure(
                        ExitCode.PARTLY,
                        "%d runs were enqueued, then: %s".formatted(made.size(), failure.getMessage()),
                        failure);
            }
        }
        Printer printer = printer();
        if (printer.isTable()) printer.done("Enqueued %d runs.".formatted(made.size()), body(), "run");
        else printer.list(made.valueStream().toList(), "run", List.of("run"));
        return ExitCode.OK;
    }

    @Command(description = "Show one run.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "ID") String id,
            @Option(names = "--watch", description = "Show it anew when it changes, until Ctrl-C.") boolean watch) {
        Client client = client();
        Printer printer = printer();
        return shown(watch, () -> printer.shown(client.get(Client.path("runs", id)), "id"));
    }

    @Command(description = "List runs, the latest first.", sortOptions = false)
    int list(
            @Mixin RunFilterForm filter,
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "20",
                            description = "How many at most. Default: ${DEFAULT-VALUE}.")
                    int limit,
            @Option(names = "--watch", description = "Show them anew when they change, until Ctrl-C.") boolean watch) {
        return list(watch, new Wanted("/v1/runs", filter.query(), limit), "id", COLUMNS);
    }

    @Command(description = "Cancel a run: at once if it waits; if it runs, its node is told.", sortOptions = false)
    int cancel(
            @Parameters(paramLabel = "ID") String id,
            @Option(names = "--reason", paramLabel = "TEXT", description = "Why, for those who wonder later.") @Nullable
                    String reason) {
        JsonNode answer = client().post(Client.path("runs", id, "cancel"), with(body(), "reason", reason));
        boolean now = answer.path("state").stringValue("").equals("cancelled");
        printer()
                .done(
                        (now ? "Cancelled %s." : "%s runs; its node was told to stop it.").formatted(id),
                        answer,
                        "state");
        return ExitCode.OK;
    }

    @Command(description = "Run a dead run again, as a new one.", sortOptions = false)
    int redrive(@Parameters(paramLabel = "ID") String id) {
        JsonNode made = client().post(Client.path("runs", id, "redrive"), body());
        printer().done("Redriven as %s.".formatted(made.path("run").stringValue("")), made, "run");
        return ExitCode.OK;
    }

    @Command(
            description =
                    "Send what a webhook's run sent once more, under its id. Exit code 0: it was taken, 10: it was not.",
            sortOptions = false)
    int replay(@Parameters(paramLabel = "ID") String id) {
        JsonNode delivery = client().post(Client.path("runs", id, "replay"), body());
        printer().done(WebhookCommands.sentence(delivery), delivery, "verdict");
        return WebhookCommands.isTaken(delivery) ? ExitCode.OK : ExitCode.RUN_FAILED;
    }

    @Command(description = "Move a run that waits.", sortOptions = false)
    int reschedule(
            @Parameters(paramLabel = "ID") String id,
            @Option(names = "--at", paramLabel = "INSTANT", required = true, description = "When it falls due.")
                    String at) {
        return changed(
                "%s falls due at %s.".formatted(id, at),
                "id",
                Client.path("runs", id, "reschedule"),
                body().put("at", at));
    }

    @Command(description = "Say why a run does not run, or what became of it.", sortOptions = false)
    int explain(@Parameters(paramLabel = "ID") String id) {
        JsonNode answer = client().get(Client.path("runs", id, "explain"));
        printer().done(sentence(answer), answer, "state");
        return ExitCode.OK;
    }

    private static String sentence(JsonNode explanation) {
        StringBuilder text = new StringBuilder(explanation.path("summary").stringValue(""));
        for (JsonNode hold : explanation.path("holds")) text.append(" ").append(hold.stringValue(hold.toString()));
        return text.toString();
    }

    @Command(description = "List the attempts of a run that did not end it.", sortOptions = false)
    int attempts(@Parameters(paramLabel = "ID") String id) {
        JsonNode answer = client().get(Client.path("runs", id, "attempts"));
        printer().list(answer.path("items").valueStream().toList(), "attempt", ATTEMPTS);
        return ExitCode.OK;
    }

    @Command(
            name = "wait",
            description =
                    "Wait until a run has ended. Exit code 0: it succeeded, 10: it did not, 6: it has not ended in time.",
            sortOptions = false)
    int await(
            @Parameters(paramLabel = "ID") String id,
            @Option(
                            names = "--for",
                            paramLabel = "DURATION",
                            defaultValue = "5m",
                            description = "How long. Default: ${DEFAULT-VALUE}.")
                    String length) {
        Duration most = duration("--for", length);
        Client client = client();
        long start = System.nanoTime();
        while (!Thread.currentThread().isInterrupted()) {
            JsonNode run = client.get(Client.path("runs", id));
            String state = run.path("state").stringValue("");
            if (!LIVING.contains(state)) {
                printer().done("%s %s.".formatted(id, state), run, "id");
                return state.equals("succeeded") ? ExitCode.OK : ExitCode.RUN_FAILED;
            }
            if (System.nanoTime() - start > most.toNanos())
                throw new Failure(
                        ExitCode.TIMEOUT,
                        "%s is still %s after %s. 'carillon run explain %s' says why."
                                .formatted(id, state, length, id));
            pause(WAIT_MILLIS);
        }
        throw new Failure(ExitCode.FAILED, "Interrupted.");
    }
}
