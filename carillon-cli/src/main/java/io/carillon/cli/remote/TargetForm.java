package io.carillon.cli.remote;

import io.carillon.cli.shell.UsageException;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** What a run does, where a handler does not do it: a webhook, or JSON that somebody wrote. */
final class TargetForm {
    @Option(names = "--webhook", paramLabel = "URL", description = "Call this URL, instead of a handler.")
    private @Nullable String webhook;

    @Mixin
    private WebhookForm how = new WebhookForm();

    @Option(names = "--target", paramLabel = "JSON", description = "What to do, where flags do not say it.")
    private @Nullable String target;

    boolean isEmpty() {
        return webhook == null && target == null && how.isEmpty();
    }

    /** Exactly one of them and the handler, which {@code word} names. */
    JsonNode json(@Nullable String handler, String word) {
        if (Stream.of(handler, webhook, target).filter(Objects::nonNull).count() != 1)
            throw new UsageException("What? Say one of %s, --webhook or --target.".formatted(word));
        if (webhook != null) return how.json(webhook);
        if (!how.isEmpty())
            throw new UsageException("Methods, headers, secrets and callbacks are a webhook's. Say --webhook, too.");
        return target != null
                ? Json.typed("--target", target)
                : RemoteGroup.body().put("handler", handler);
    }
}
