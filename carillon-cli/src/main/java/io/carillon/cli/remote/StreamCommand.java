package io.carillon.cli.remote;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.Client;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Failure;
import io.carillon.cli.shell.Shell;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon stream}: what happens in the project, line by line. */
@Command(
        name = "stream",
        description = "Tell changes and ends of runs as they happen, on all nodes, until Ctrl-C.",
        sortOptions = false)
final class StreamCommand extends RemoteGroup {
    private static final long AGAIN_MILLIS = 2_000;

    @Option(
            names = "--event",
            paramLabel = "NAME",
            split = ",",
            description = "Only these, such as run.ended or schedule.pause; all unless said.")
    private @Nullable List<String> events;

    @Option(names = "--count", paramLabel = "N", description = "End after so many.")
    private @Nullable Integer count;

    StreamCommand(Shell shell) {
        super(shell);
    }

    @Override
    public Integer call() {
        Client client = client();
        Printer printer = printer();
        Reader reader = new Reader(printer);
        while (!Thread.currentThread().isInterrupted() && !reader.isFull()) {
            try {
                client.lines("/v1/stream", reader::line);
            } catch (Failure failure) {
                boolean passing = failure.exit() == ExitCode.AWAY || failure.exit() == ExitCode.TIMEOUT;
                if (Thread.currentThread().isInterrupted()) break;
                if (!passing || !reader.heard) throw failure;
                shell.err().println("carillon: " + failure.getMessage());
            }
            // A server ends each stream after a while, and what happens meanwhile is not told.
            if (!reader.isFull()) pause(AGAIN_MILLIS);
        }
        return ExitCode.OK;
    }

    /** Puts lines of server-sent events together. */
    private final class Reader {
        private final Printer printer;
        private String event = "";
        private int told;
        /** Whether it was let in: from then on, a server that is away is waited for. */
        private boolean heard;

        Reader(Printer printer) {
            this.printer = printer;
        }

        boolean isFull() {
            return count != null && told >= count;
        }

        /** Whether to go on. */
        boolean line(String line) {
            heard = true;
            if (line.startsWith("event: ")) event = line.substring(7);
            if (line.startsWith("data: ") && (events == null || events.contains(event))) tell(line.substring(6));
            return !isFull() && !Thread.currentThread().isInterrupted();
        }

        private void tell(String data) {
            ObjectNode node = body().put("event", event);
            if (Json.parse("An event", data) instanceof ObjectNode rest) node.setAll(rest);
            printer.done(sentence(node), node, node.has("run") ? "run" : "object");
            told++;
        }

        private String sentence(JsonNode node) {
            StringBuilder text = new StringBuilder(node.path("at").stringValue(""))
                    .append(' ')
                    .append(event);
            for (String part : List.of("run", "object", "name", "queue", "state"))
                if (node.has(part)) text.append(' ').append(node.path(part).stringValue(""));
            return text.toString();
        }
    }
}
