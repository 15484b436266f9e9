package io.carillon.cli.remote;

import io.carillon.cli.shell.UsageException;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What a run does: exactly one of a handler, a webhook, and JSON that somebody wrote. */
final class TargetForm {
    private TargetForm() {}

    static JsonNode json(@Nullable String handler, @Nullable ObjectNode webhook, @Nullable String target) {
        if (Stream.of(handler, webhook, target).filter(Objects::nonNull).count() != 1)
            throw new UsageException("What? Name a handler, or say --webhook or --target: one of them.");
        if (webhook != null) return webhook;
        if (target != null) return Json.typed("--target", target);
        return RemoteGroup.body().put("handler", handler);
    }
}
