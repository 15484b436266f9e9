package io.carillon.cli.remote;

import io.carillon.run.RunState;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which runs to list, by flags. */
final class RunFilterForm {
    @Option(
            names = "--state",
            paramLabel = "STATE",
            description = "waiting, running, succeeded, dead, cancelled or quarantined.")
    private @Nullable String state;

    @Option(names = "--queue", paramLabel = "NAME", description = "Runs of this queue.")
    private @Nullable String queue;

    @Option(names = "--handler", paramLabel = "NAME", description = "Runs of this handler.")
    private @Nullable String handler;

    @Option(names = "--schedule", paramLabel = "NAME", description = "Runs of this schedule.")
    private @Nullable String schedule;

    Map<String, String> query() {
        Map<String, String> query = new LinkedHashMap<>();
        put(query, "state", Words.one("--state", state, RunState.class));
        put(query, "queue", queue);
        put(query, "handler", handler);
        put(query, "schedule", schedule);
        return query;
    }

    private static void put(Map<String, String> query, String name, @Nullable String value) {
        if (value != null) query.put(name, value);
    }
}
