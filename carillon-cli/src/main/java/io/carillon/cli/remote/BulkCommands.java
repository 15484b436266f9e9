package io.carillon.cli.remote;

import io.carillon.cli.client.Client;
import io.carillon.cli.screen.Look;
import io.carillon.cli.screen.Terminal;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Failure;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon bulk}. */
@Command(
        name = "bulk",
        description = "Change all runs that match, some thousands at a time; Ctrl-C stops in between.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class BulkCommands extends RemoteGroup {
    private static final Set<String> ENDED = Set.of("dead", "quarantined");
    private static final int BAR = 30;

    BulkCommands(Shell shell) {
        super(shell);
    }

    /** Which runs. */
    static final class Filter {
        @Option(
                names = "--state",
                paramLabel = "STATE",
                required = true,
                description = "waiting, running, dead or quarantined.")
        private String state = "";

        @Option(names = "--queue", paramLabel = "NAME", description = "Runs of this queue.")
        private @Nullable String queue;

        @Option(names = "--handler", paramLabel = "NAME", description = "Runs of this handler.")
        private @Nullable String handler;

        ObjectNode request(String action) {
            Words.one("--state", state, List.of("waiting", "running", "dead", "quarantined"));
            ObjectNode body = body().put("action", action);
            ObjectNode filter = body.putObject("filter").put("state", state);
            with(filter, "queue", queue);
            with(filter, "handler", handler);
            return body;
        }
    }

    @Command(description = "Count the runs that match.", sortOptions = false)
    int count(@Mixin Filter filter) {
        // Counted by an action that suits the state, and is not done.
        String action = ENDED.contains(filter.state) ? "redrive" : "cancel";
        JsonNode answer =
                client().post("/v1/bulk-actions", filter.request(action).put("dryRun", true));
        printer().done(answer.path("matching").toString(), answer, "matching");
        return ExitCode.OK;
    }

    @Command(description = "Cancel runs that wait or run.", sortOptions = false)
    int cancel(@Mixin Filter filter, @Option(names = "--yes", description = "Do it.") boolean yes) {
        return all(filter.request("cancel"), yes, "cancelled");
    }

    @Command(description = "Run dead or quarantined runs again.", sortOptions = false)
    int redrive(@Mixin Filter filter, @Option(names = "--yes", description = "Do it.") boolean yes) {
        return all(filter.request("redrive"), yes, "redriven");
    }

    @Command(description = "Delete dead or quarantined runs for good.", sortOptions = false)
    int delete(@Mixin Filter filter, @Option(names = "--yes", description = "Do it.") boolean yes) {
        return all(filter.request("delete"), yes, "deleted");
    }

    @Command(description = "Move runs that wait.", sortOptions = false)
    int reschedule(
            @Mixin Filter filter,
            @Option(names = "--at", paramLabel = "INSTANT", required = true, description = "When they fall due.")
                    String at,
            @Option(names = "--yes", description = "Do it.") boolean yes) {
        return all(filter.request("reschedule").put("at", at), yes, "rescheduled");
    }

    private int all(ObjectNode request, boolean yes, String done) {
        Client client = client();
        long matching = client.post("/v1/bulk-actions", request.deepCopy().put("dryRun", true))
                .path("matching")
                .longValue();
        if (!yes)
            throw new UsageException("%d runs match, and would be %s. Say --yes to do it.".formatted(matching, done));
        boolean bar = Terminal.here(shell.environment()).isPresent();
        long changed = 0;
        boolean more = matching > 0;
        try {
            while (more && !Thread.currentThread().isInterrupted()) {
                JsonNode answer = client.post("/v1/bulk-actions", request);
                changed += answer.path("done").longValue();
                more = answer.path("more").booleanValue(false);
                if (bar) draw(changed, Math.max(changed, matching));
            }
        } catch (Failure failure) {
            throw changed == 0
                    ? failure
                    : new Failure(
                            ExitCode.PARTLY,
                            "%d runs were %s, then: %s".formatted(changed, done, failure.getMessage()),
                            failure);
        } finally {
            if (bar) shell.err().println();
        }
        printer()
                .done(
                        "%d runs were %s.".formatted(changed, done),
                        body().put("matching", matching).put("done", changed).put("more", more),
                        "done");
        return more ? ExitCode.PARTLY : ExitCode.OK;
    }

    private void draw(long done, long all) {
        String filled = Look.of(shell.environment()).bar(BAR, (double) done / all);
        shell.err().print("\r%s %d of %d".formatted(filled, done, all));
        shell.err().flush();
    }
}
