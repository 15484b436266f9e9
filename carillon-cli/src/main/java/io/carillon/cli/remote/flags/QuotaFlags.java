package io.carillon.cli.remote.flags;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** The options of a quota. */
public final class QuotaFlags {
    @Option(
            names = "--requests-per-second",
            paramLabel = "RATE",
            description = "Maximum number of requests per second on each node.")
    private @Nullable Double requests;

    @Option(names = "--max-schedules", paramLabel = "N", description = "Maximum number of schedules.")
    private @Nullable Integer schedules;

    @Option(names = "--max-waiting", paramLabel = "N", description = "Maximum number of waiting and running runs.")
    private @Nullable Long waiting;

    @Option(names = "--max-bulk-actions", paramLabel = "N", description = "Maximum number of running bulk actions.")
    private @Nullable Integer bulkActions;

    @Option(
            names = "--max-streams",
            paramLabel = "N",
            description = "Maximum number of open event streams on each node.")
    private @Nullable Integer streams;

    @Option(names = "--max-endpoints", paramLabel = "N", description = "Maximum number of endpoints.")
    private @Nullable Integer endpoints;

    @Option(names = "--max-subscriptions", paramLabel = "N", description = "Maximum number of subscriptions.")
    private @Nullable Integer subscriptions;

    /** Returns a body with the given options. */
    public ObjectNode body() {
        ObjectNode body = emptyBody();
        if (requests != null) body.put("requestsPerSecond", requests);
        if (schedules != null) body.put("maxSchedules", schedules);
        if (waiting != null) body.put("maxWaiting", waiting);
        if (bulkActions != null) body.put("maxBulkActions", bulkActions);
        if (streams != null) body.put("maxStreams", streams);
        if (endpoints != null) body.put("maxEndpoints", endpoints);
        if (subscriptions != null) body.put("maxSubscriptions", subscriptions);
        return body;
    }
}
