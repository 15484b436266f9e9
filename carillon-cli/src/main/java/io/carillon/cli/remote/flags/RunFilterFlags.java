package io.carillon.cli.remote.flags;

import io.carillon.run.RunState;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that filter runs. */
public final class RunFilterFlags {
    @Option(
            names = "--state",
            paramLabel = "STATE",
            description = "Filter by state: waiting, running, succeeded, dead, cancelled or quarantined.")
    private @Nullable String state;

    @Option(names = "--queue", paramLabel = "NAME", description = "Filter by queue.")
    private @Nullable String queue;

    @Option(names = "--handler", paramLabel = "NAME", description = "Filter by handler.")
    private @Nullable String handler;

    @Option(names = "--schedule", paramLabel = "NAME", description = "Filter by schedule.")
    private @Nullable String schedule;

    @Option(names = "--not-state", paramLabel = "STATE", description = "Leave out runs in this state.")
    private @Nullable String notState;

    @Option(names = "--not-queue", paramLabel = "NAME", description = "Leave out runs of this queue.")
    private @Nullable String notQueue;

    @Option(names = "--not-handler", paramLabel = "NAME", description = "Leave out runs of this handler.")
    private @Nullable String notHandler;

    @Option(names = "--from", paramLabel = "INSTANT", description = "Filter by creation: at this instant or later.")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "INSTANT", description = "Filter by creation: at this instant or earlier.")
    private @Nullable String to;

    @Option(names = "--error", paramLabel = "TEXT", description = "Search for a text in errors.")
    private @Nullable String error;

    @Option(
            names = "--payload",
            paramLabel = "TEXT",
            description = "Search for a text in payloads; needs the scope manage.")
    private @Nullable String payload;

    public Map<String, String> query() {
        Map<String, String> query = new LinkedHashMap<>();
        put(query, "state", AllowedValues.require("--state", state, RunState.class));
        put(query, "notState", AllowedValues.require("--not-state", notState, RunState.class));
        put(query, "notQueue", notQueue);
        put(query, "notHandler", notHandler);
        put(query, "from", from);
        put(query, "to", to);
        put(query, "error", error);
        put(query, "payload", payload);
        put(query, "queue", queue);
        put(query, "handler", handler);
        put(query, "schedule", schedule);
        return query;
    }

    private static void put(Map<String, String> query, String name, @Nullable String value) {
        if (value != null) query.put(name, value);
    }
}
