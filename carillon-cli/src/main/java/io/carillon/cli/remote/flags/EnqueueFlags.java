package io.carillon.cli.remote.flags;

import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.UsageException;
import io.carillon.run.Priority;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The options of a run to enqueue. */
public final class EnqueueFlags {
    /** The maximum number of runs in one request. */
    private static final int MAX_BATCH = 1_000;

    @Mixin
    private TargetFlags target = new TargetFlags();

    @Option(
            names = "--payload",
            paramLabel = "JSON",
            description = "Payload of the run; @FILE reads a file. Default: {}.")
    private @Nullable String payload;

    @Option(names = "--at", paramLabel = "INSTANT", description = "Due time. Default: now.")
    private @Nullable String at;

    @Option(names = "--after", paramLabel = "DURATION", description = "Delay until the run is due.")
    private @Nullable String after;

    @Option(
            names = "--key",
            paramLabel = "KEY",
            description = "Unique key. While a run with this key has not ended, no other run with it is enqueued.")
    private @Nullable String key;

    @Option(
            names = "--key-window",
            paramLabel = "DURATION",
            description = "Minimum time for which --key prevents another run, even if the run ends earlier.")
    private @Nullable String keyWindow;

    @Option(names = "--queue", paramLabel = "NAME", description = "Queue of the run. Default: the name of the handler.")
    private @Nullable String queue;

    @Option(names = "--priority", paramLabel = "high|normal|low|bulk", description = "Priority of the run.")
    private @Nullable String priority;

    @Mixin
    private RetryFlags retry = new RetryFlags();

    @Option(
            names = "--attempt-timeout",
            paramLabel = "DURATION",
            description = "Maximum time of an attempt. Default: that of the handler.")
    private @Nullable String timeout;

    @Option(
            names = "--fifo-key",
            paramLabel = "KEY",
            description = "FIFO key. Runs with the same key run one after another.")
    private @Nullable String fifoKey;

    @Option(
            names = "--concurrency-key",
            paramLabel = "KEY",
            description = "Concurrency key. At most --concurrency runs with the same key run at a time.")
    private @Nullable String concurrencyKey;

    @Option(
            names = "--concurrency",
            paramLabel = "N",
            description = "Maximum number of runs for --concurrency-key. Default: 1.")
    private @Nullable Integer concurrency;

    @Option(
            names = "--rate-key",
            paramLabel = "KEY",
            description = "Rate key. At most --rate-starts runs with the same key start within --rate-in.")
    private @Nullable String rateKey;

    @Option(names = "--rate-starts", paramLabel = "N", description = "Maximum number of starts for --rate-key.")
    private @Nullable Integer rateStarts;

    @Option(names = "--rate-in", paramLabel = "DURATION", description = "Time window for --rate-starts.")
    private @Nullable String ratePeriod;

    /** Returns the requests for the payloads of a file, each with at most {@value #MAX_BATCH} runs. */
    public List<ObjectNode> batches(@Nullable String handler, String file) {
        if (payload != null || key != null || keyWindow != null)
            throw new UsageException("--payload, --key and --key-window apply to a single run. Remove them.");
        JsonNode payloads = JsonInput.parse(file, SecretFiles.readText("--file", file));
        if (!payloads.isArray() || payloads.isEmpty())
            throw new UsageException(file + " must contain a JSON array of payloads: [{}, …].");
        List<ObjectNode> batches = new ArrayList<>();
        for (int i = 0; i < payloads.size(); i++) {
            if (i % MAX_BATCH == 0) {
                batches.add(json(handler));
                batches.get(batches.size() - 1).putArray("runs");
            }
            ((ArrayNode) batches.get(batches.size() - 1).path("runs"))
                    .addObject()
                    .set("payload", payloads.get(i));
        }
        return batches;
    }

    public ObjectNode json(@Nullable String handler) {
        ObjectNode body = JsonBody.emptyBody();
        body.set("target", target.json(handler, "HANDLER"));
        if (payload != null) body.set("payload", JsonInput.parseOrReadFile("--payload", payload));
        JsonBody.putIfGiven(body, "at", at);
        JsonBody.putIfGiven(body, "after", after);
        JsonBody.putIfGiven(body, "key", key);
        JsonBody.putIfGiven(body, "keyWindow", keyWindow);
        JsonBody.putIfGiven(body, "queue", queue);
        JsonBody.putIfGiven(body, "priority", AllowedValues.require("--priority", priority, Priority.class));
        retry.applyTo(body);
        JsonBody.putIfGiven(body, "timeout", timeout);
        JsonBody.putIfGiven(body, "fifoKey", fifoKey);
        JsonBody.putIfGiven(body, "concurrencyKey", concurrencyKey);
        JsonBody.putIfGiven(body, "rateKey", rateKey);
        JsonBody.putIfGiven(body, "rateIn", ratePeriod);
        if (concurrency != null) body.put("concurrency", concurrency);
        return rateStarts == null ? body : body.put("rateStarts", rateStarts);
    }
}
