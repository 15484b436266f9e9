package io.carillon.cli.remote.flags;

import io.carillon.cli.shell.UsageException;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** The options of a target without a handler: an endpoint, a webhook, or a target in JSON. */
final class TargetFlags {
    @Option(names = "--endpoint", paramLabel = "NAME", description = "Endpoint to call instead of a handler.")
    private @Nullable String endpoint;

    @Option(names = "--webhook", paramLabel = "URL", description = "URL to call instead of a handler, without secrets.")
    private @Nullable String webhook;

    @Mixin
    private WebhookFlags webhookFlags = new WebhookFlags();

    @Option(names = "--target", paramLabel = "JSON", description = "Target in JSON, for settings that have no option.")
    private @Nullable String target;

    boolean isEmpty() {
        return endpoint == null && webhook == null && target == null && webhookFlags.isEmpty();
    }

    /**
     * Returns the target. Exactly one of the handler, {@code --endpoint}, {@code --webhook} and {@code --target} must
     * be given.
     *
     * @param handler null if no handler was given
     * @param word the option or parameter of the handler, for messages
     */
    JsonNode json(@Nullable String handler, String word) {
        if (Stream.of(handler, endpoint, webhook, target)
                        .filter(Objects::nonNull)
                        .count()
                != 1)
            throw new UsageException("Give exactly one of %s, --endpoint, --webhook and --target.".formatted(word));
        if (endpoint != null) return webhookFlags.endpointJson(endpoint);
        if (webhook != null) return webhookFlags.json(webhook);
        if (!webhookFlags.isEmpty())
            throw new UsageException("--method and --callback need --webhook; --header needs --webhook or --endpoint.");
        return target != null
                ? JsonInput.parseOrReadFile("--target", target)
                : JsonBody.emptyBody().put("handler", handler);
    }
}
