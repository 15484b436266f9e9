package io.carillon.cli.remote;

import io.carillon.cli.client.Client;
import io.carillon.cli.screen.Look;
import io.carillon.cli.screen.Terminal;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Failure;
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
        description = "Change all runs that match; the server does it, some at a time, whoever watches.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class BulkCommands extends RemoteGroup {
    private static final Set<String> ENDED = Set.of("dead", "quarantined");
    private static final String PATH = "/v1/bulk-actions";
    private static final int BAR = 30;
    private static final long SOON_MILLIS = 100;
    private static final long LOOK_MILLIS = 500;
    /** Every so many looks. */
    private static final int LINE = 10;

    BulkCommands(Shell shell) {
        super(shell);
    }

    /** Whether and how. */
    static final class Consent {
        @Option(names = "--yes", description = "Do it.")
        private boolean yes;

        @Option(names = "--no-wait", description = "Begin it and do not watch it.")
        private boolean noWait;
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
        JsonNode answer = client().post(PATH, filter.request(action).put("dryRun", true));
        printer().done(counted(answer), answer, "matching");
        return ExitCode.OK;
    }

    @Command(description = "Cancel runs that wait or run.", sortOptions = false)
    int cancel(@Mixin Filter filter, @Mixin Consent consent) {
        return all(filter.request("cancel"), consent, "cancelled");
    }

    @Command(description = "Run dead or quarantined runs again.", sortOptions = false)
    int redrive(@Mixin Filter filter, @Mixin Consent consent) {
        return all(filter.request("redrive"), consent, "redriven");
    }

    @Command(description = "Delete dead or quarantined runs for good.", sortOptions = false)
    int delete(@Mixin Filter filter, @Mixin Consent consent) {
        return all(filter.request("delete"), consent, "deleted");
    }

    @Command(description = "Move runs that wait.", sortOptions = false)
    int reschedule(
            @Mixin Filter filter,
            @Option(names = "--at", paramLabel = "INSTANT", required = true, description = "When they fall due.")
                    String at,
            @Mixin Consent consent) {
        return all(filter.request("reschedule").put("at", at), consent, "rescheduled");
    }

    @Command(description = "Show bulk actions of the last month.", sortOptions = false)
    int list(
            @Option(
                            names = "--limit",
                            paramLabel = "N",
                            defaultValue = "50",
                            description = "How many at most. Default: ${DEFAULT-VALUE}.")
                    int limit) {
        return list(
                false, new Wanted(PATH, Map.of(), limit), "id", List.of("id", "action", "state", "done", "matching"));
    }

    @Command(description = "Show how far one is.", sortOptions = false)
    int get(@Parameters(paramLabel = "ID") String id) {
        printer().one(client().get(Client.path("bulk-actions", id)), "id");
        return ExitCode.OK;
    }

    @Command(description = "Break one off; what is done stays done.", sortOptions = false)
    int abort(@Parameters(paramLabel = "ID") String id) {
        return changed(
                "Bulk action %s was broken off.".formatted(id), "id", Client.path("bulk-actions", id, "abort"), body());
    }

    private int all(ObjectNode request, Consent consent, String done) {
        Client client = client();
        if (!consent.yes)
            throw new UsageException("%s runs match, and would be %s. Say --yes to do it."
                    .formatted(counted(client.post(PATH, request.deepCopy().put("dryRun", true))), done));
        JsonNode action = client.post(PATH, request);
        String id = action.path("id").stringValue("");
        if (consent.noWait) {
            printer().done("Bulk action %s has begun.".formatted(id), action, "id");
            return ExitCode.OK;
        }
        JsonNode ended = watched(client, action, id);
        String state = ended.path("state").stringValue("");
        printer()
                .done(
                        "%d runs were %s.%s"
                                .formatted(
                                        ended.path("done").longValue(),
                                        done,
                                        state.equals("done") ? "" : " The bulk action is " + state + "."),
                        ended,
                        "id");
        return state.equals("done") ? ExitCode.OK : ExitCode.PARTLY;
    }

    /** The server goes on with it, whoever watches: a bar on a terminal, a line now and then elsewhere. */
    private JsonNode watched(Client client, JsonNode begun, String id) {
        boolean bar = Terminal.here(shell.environment()).isPresent();
        JsonNode action = begun;
        String last = "";
        for (int look = 0; running(action) && !Thread.currentThread().isInterrupted(); look++) {
            if (look == 1 && !bar)
                shell.err()
                        .println("carillon: bulk action %s goes on by itself; 'carillon bulk abort %s' breaks it off."
                                .formatted(id, id));
            String line = "%d of %s".formatted(action.path("done").longValue(), counted(action));
            if (bar) draw(action, line);
            else if (look % LINE == LINE - 1 && !line.equals(last)) shell.err().println("carillon: " + (last = line));
            pause(look == 0 ? SOON_MILLIS : LOOK_MILLIS);
            action = looked(client, id);
        }
        if (bar) {
            draw(action, "%d runs".formatted(action.path("done").longValue()));
            shell.err().println();
        }
        return action;
    }

    private static JsonNode looked(Client client, String id) {
        try {
            return client.get(Client.path("bulk-actions", id));
        } catch (Failure failure) {
            throw new Failure(
                    failure.exit(),
                    "%s The bulk action goes on; 'carillon bulk get %s' tells how far it is."
                            .formatted(failure.getMessage(), id),
                    failure);
        }
    }

    /** The server counts up to a bound: {@code 10000+} are that many or more. */
    private static String counted(JsonNode answer) {
        return answer.path("matching").longValue() + (answer.path("more").booleanValue(false) ? "+" : "");
    }

    private static boolean running(JsonNode action) {
        return action.path("state").stringValue("").equals("running");
    }

    private void draw(JsonNode action, String line) {
        double all = Math.max(1, action.path("matching").doubleValue());
        double part = running(action) ? Math.min(1, action.path("done").doubleValue() / all) : 1;
        shell.err().print("\r%s %s ".formatted(Look.of(shell.environment()).bar(BAR, part), line));
        shell.err().flush();
    }
}
