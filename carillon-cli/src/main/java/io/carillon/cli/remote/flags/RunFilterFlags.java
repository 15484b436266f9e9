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

    public Map<String, String> query() {
        Map<String, String> query = new LinkedHashMap<>();
        put(query, "state", AllowedValues.require("--state", state, RunState.class));
        put(query, "queue", queue);
        put(query, "handler", handler);
        put(query, "schedule", schedule);
        return query;
    }

    private static void put(Map<String, String> query, String name, @Nullable String value) {
        if (value != null) query.put(name, value);
    }
}
