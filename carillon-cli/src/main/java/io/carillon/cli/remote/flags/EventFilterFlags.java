package io.carillon.cli.remote.flags;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that select events of a topic. */
public final class EventFilterFlags {
    @Option(
            names = "--type",
            paramLabel = "PATTERN",
            description = "Filter by type: a name, or the beginning of a name followed by *.")
    private @Nullable String type;

    @Option(names = "--key", paramLabel = "KEY", description = "Filter by key.")
    private @Nullable String key;

    @Option(
            names = "--after",
            paramLabel = "POSITION",
            description = "Begin behind this position, which an earlier command has printed.")
    private @Nullable String after;

    public boolean hasPosition() {
        return after != null;
    }

    /** Returns the parameters of a request for the events of a topic. */
    public Map<String, String> query(String topic) {
        Map<String, String> query = new LinkedHashMap<>();
        query.put("topic", topic);
        if (type != null) query.put("type", type);
        if (key != null) query.put("key", key);
        if (after != null) query.put("after", after);
        return query;
    }
}
