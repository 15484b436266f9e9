package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.JsonInput;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon stream}: prints the events of the project, one per line. */
@Command(
        name = "stream",
        description = "Print changes and ended runs on all nodes as they happen, until Ctrl-C.",
        sortOptions = false)
final class StreamCommand extends RemoteCommandGroup {
    private static final long RECONNECT_MILLIS = 2_000;
    /** The kind of an event that contains several. */
    private static final String TOGETHER = "changes";

    @Option(
            names = "--event",
            paramLabel = "NAME",
            split = ",",
            description = "Filter by event, such as run.ended or schedule.pause. Default: all events.")
    private @Nullable List<String> events;

    @Option(names = "--count", paramLabel = "N", description = "Exit after this many events.")
    private @Nullable Integer count;

    StreamCommand(Shell shell) {
        super(shell);
    }

    @Override
    public Integer call() {
        ApiClient apiClient = client();
        Printer printer = printer();
        EventReader eventReader = new EventReader(printer);
        while (!Thread.currentThread().isInterrupted() && !eventReader.hasEnough()) {
            try {
                apiClient.streamLines("/v1/stream", Map.of(), eventReader::accept);
            } catch (CommandException commandException) {
                boolean passing = commandException.exitCode() == ExitCode.UNAVAILABLE
                        || commandException.exitCode() == ExitCode.TIMEOUT;
                if (Thread.currentThread().isInterrupted()) break;
                if (!passing || !eventReader.connected) throw commandException;
                shell.err().println("carillon: " + commandException.getMessage());
            }
            // The server ends each stream after some time. Events until the next connection are not printed.
            if (!eventReader.hasEnough()) pause(RECONNECT_MILLIS);
        }
        return ExitCode.OK;
    }

    /** Assembles server-sent events from lines. */
    private final class EventReader {
        private final Printer printer;
        private String event = "";
        private int shownCount;
        /**
         * Whether the server has accepted a connection. From then on the command waits for a server
         * that is unavailable.
         */
        private boolean connected;

        EventReader(Printer printer) {
            this.printer = printer;
        }

        boolean hasEnough() {
            return count != null && shownCount >= count;
        }

        /** Handles a line. Returns whether to continue. */
        boolean accept(String line) {
            connected = true;
            if (line.startsWith("event: ")) event = line.substring(7);
            if (line.startsWith("data: ")) show(event, JsonInput.parse("An event", line.substring(6)));
            return !hasEnough() && !Thread.currentThread().isInterrupted();
        }

        /** Prints an event, or each of several events that the server sent together. */
        private void show(String kind, JsonNode data) {
            if (kind.equals(TOGETHER))
                data.path("events").forEach(one -> show(one.path("kind").stringValue(""), one));
            else if (!hasEnough() && (events == null || events.contains(kind))) print(kind, data);
        }

        private void print(String kind, JsonNode data) {
            ObjectNode node = emptyBody().put("event", kind);
            if (data instanceof ObjectNode rest) node.setAll(rest);
            node.remove("kind");
            printer.printResult(sentence(kind, node), node, node.has("run") ? "run" : "object");
            shownCount++;
        }

        private static String sentence(String kind, JsonNode node) {
            StringBuilder text = new StringBuilder(node.path("at").stringValue(""))
                    .append(' ')
                    .append(kind);
            boolean hasOwnQueue = node.path("queue").equals(node.path("name"));
            for (String part : List.of("run", "object", "name", hasOwnQueue ? "" : "queue", "state"))
                if (node.has(part)) text.append(' ').append(node.path(part).stringValue(""));
            return text.toString();
        }
    }
}
