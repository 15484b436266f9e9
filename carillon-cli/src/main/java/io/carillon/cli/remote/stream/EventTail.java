package io.carillon.cli.remote.stream;

import io.carillon.cli.answer.Printer;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.JsonInput;
import io.carillon.cli.shell.CommandException;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Prints the events of a tail. After a lost connection it continues behind the last event that it has printed. */
public final class EventTail {
    private final Shell shell;
    private final ApiClient client;
    private final Printer printer;
    private final @Nullable Integer count;
    private final Runnable pause;
    private int shown;
    private String position = "";
    private String id = "";
    private boolean connected;

    /**
     * Creates a tail.
     *
     * @param count the number of events to print; null for no end
     * @param pause waits before the next connection
     */
    public EventTail(Shell shell, ApiClient client, Printer printer, @Nullable Integer count, Runnable pause) {
        this.shell = shell;
        this.client = client;
        this.printer = printer;
        this.count = count;
        this.pause = pause;
    }

    /** Prints events until enough were printed or the thread is interrupted. */
    public void follow(Map<String, String> query) {
        while (isWanted()) {
            Map<String, String> parameters = new LinkedHashMap<>(query);
            if (!position.isEmpty()) parameters.put("after", position);
            try {
                client.streamLines("/v1/events:tail" + ApiClient.query(parameters), Map.of(), this::accept);
            } catch (CommandException failure) {
                boolean passing = failure.exitCode() == ExitCode.UNAVAILABLE || failure.exitCode() == ExitCode.TIMEOUT;
                if (Thread.currentThread().isInterrupted()) return;
                if (!passing || !connected) throw failure;
                shell.err().println("carillon: " + failure.getMessage());
            }
            // The server ends each stream after some time.
            if (isWanted()) pause.run();
        }
    }

    private boolean isWanted() {
        return !Thread.currentThread().isInterrupted() && (count == null || shown < count);
    }

    /** Handles a line. Returns whether to continue. */
    private boolean accept(String line) {
        connected = true;
        if (line.startsWith("id: ")) id = line.substring(4);
        if (line.startsWith("data: ")) show(JsonInput.parse("An event", line.substring(6)));
        if (line.isEmpty() && !id.isEmpty()) position = id;
        return isWanted();
    }

    private void show(JsonNode event) {
        if (!event.has("type")) return;
        StringBuilder text = new StringBuilder(event.path("publishedAt").stringValue("")).append(' ');
        text.append(event.path("id").stringValue(""))
                .append(' ')
                .append(event.path("type").stringValue(""));
        if (event.has("key")) text.append(' ').append(event.path("key").stringValue(""));
        printer.printResult(text.append(' ').append(event.path("data")).toString(), event, "id");
        shown++;
    }
}
