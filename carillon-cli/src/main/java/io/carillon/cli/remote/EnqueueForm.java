package io.carillon.cli.remote;

import io.carillon.cli.shell.Secrets;
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

/** What to enqueue, by flags. */
final class EnqueueForm {
    /** What a server takes at once. */
    private static final int BATCH = 1_000;

    @Mixin
    private TargetForm target = new TargetForm();

    @Option(
            names = "--payload",
            paramLabel = "JSON",
            description = "What the run carries; @FILE reads a file. Default: {}.")
    private @Nullable String payload;

    @Option(names = "--at", paramLabel = "INSTANT", description = "When it falls due; now unless said.")
    private @Nullable String at;

    @Option(names = "--after", paramLabel = "LENGTH", description = "How long until it falls due.")
    private @Nullable String after;

    @Option(
            names = "--key",
            paramLabel = "KEY",
            description = "While a run with this key has not ended, no other is enqueued.")
    private @Nullable String key;

    @Option(
            names = "--key-window",
            paramLabel = "LENGTH",
            description = "The key holds at least so long, even if the run has ended by then.")
    private @Nullable String keyWindow;

    @Option(names = "--queue", paramLabel = "NAME", description = "Its queue. Default: the name of the handler.")
    private @Nullable String queue;

    @Option(names = "--priority", paramLabel = "high|normal|low|bulk", description = "Its priority.")
    private @Nullable String priority;

    @Option(names = "--fifo-key", paramLabel = "KEY", description = "Runs with the same one run one after another.")
    private @Nullable String fifoKey;

    @Option(
            names = "--concurrency-key",
            paramLabel = "KEY",
            description = "At most --concurrency runs with the same one at a time.")
    private @Nullable String concurrencyKey;

    @Option(names = "--concurrency", paramLabel = "N", description = "How many. Default: 1.")
    private @Nullable Integer concurrency;

    @Option(
            names = "--rate-key",
            paramLabel = "KEY",
            description = "Of runs with the same one start at most --rate-starts in any --rate-in.")
    private @Nullable String rateKey;

    @Option(names = "--rate-starts", paramLabel = "N", description = "How many starts.")
    private @Nullable Integer rateStarts;

    @Option(names = "--rate-in", paramLabel = "LENGTH", description = "In which time.")
    private @Nullable String rateIn;

    /** The same for each payload of a file, in parts that a server takes at once. */
    List<ObjectNode> batches(@Nullable String handler, String file) {
        if (payload != null || key != null || keyWindow != null)
            throw new UsageException("--payload, --key and --key-window are one run's. Leave them out here.");
        JsonNode payloads = Json.parse(file, Secrets.read("--file", file));
        if (!payloads.isArray() || payloads.isEmpty()) throw new UsageException(file + " holds no payloads: [{}, …].");
        List<ObjectNode> batches = new ArrayList<>();
        for (int i = 0; i < payloads.size(); i++) {
            if (i % BATCH == 0) {
                batches.add(json(handler));
                batches.get(batches.size() - 1).putArray("runs");
            }
            ((ArrayNode) batches.get(batches.size() - 1).path("runs"))
                    .addObject()
                    .set("payload", payloads.get(i));
        }
        return batches;
    }

    ObjectNode json(@Nullable String handler) {
        ObjectNode body = RemoteGroup.body();
        body.set("target", target.json(handler, "HANDLER"));
        if (payload != null) body.set("payload", Json.typed("--payload", payload));
        RemoteGroup.with(body, "at", at);
        RemoteGroup.with(body, "after", after);
        RemoteGroup.with(body, "key", key);
        RemoteGroup.with(body, "keyWindow", keyWindow);
        RemoteGroup.with(body, "queue", queue);
        RemoteGroup.with(body, "priority", Words.one("--priority", priority, Priority.class));
        RemoteGroup.with(body, "fifoKey", fifoKey);
        RemoteGroup.with(body, "concurrencyKey", concurrencyKey);
        RemoteGroup.with(body, "rateKey", rateKey);
        RemoteGroup.with(body, "rateIn", rateIn);
        if (concurrency != null) body.put("concurrency", concurrency);
        return rateStarts == null ? body : body.put("rateStarts", rateStarts);
    }
}
