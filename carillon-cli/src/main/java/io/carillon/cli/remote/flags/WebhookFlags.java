package io.carillon.cli.remote.flags;

import io.carillon.cli.shell.UsageException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** The options of a webhook. {@code --target} allows settings that have no option. */
public final class WebhookFlags {
    @Option(names = "--method", paramLabel = "METHOD", description = "HTTP method. Default: POST.")
    private @Nullable String method;

    @Option(
            names = "--header",
            paramLabel = "NAME=VALUE",
            description = "Header to send, or of the event. Can be repeated.")
    private Map<String, String> headers = new LinkedHashMap<>();

    @Option(
            names = "--callback",
            paramLabel = "DURATION",
            description = "Maximum time until the callback of a receiver that answers 202.")
    private @Nullable String callback;

    boolean isEmpty() {
        return method == null && callback == null && headers.isEmpty();
    }

    /** Returns the target that calls this URL. */
    public ObjectNode json(String url) {
        ObjectNode target = JsonBody.emptyBody().put("url", url);
        JsonBody.putIfGiven(target, "method", method);
        JsonBody.putIfGiven(target, "callback", callback);
        return JsonBody.putTexts(target, "headers", headers);
    }

    /** Adds the headers to the event that a run publishes. */
    void addEventHeaders(ObjectNode event) {
        if (method != null || callback != null)
            throw new UsageException("--method and --callback need --webhook. Remove them.");
        JsonBody.putTexts(event, "headers", headers);
    }

    /** Returns the target that calls the endpoint of this name. */
    ObjectNode endpointJson(String endpoint) {
        if (method != null || callback != null)
            throw new UsageException("--method and --callback are settings of the endpoint. Remove them.");
        return JsonBody.putTexts(JsonBody.emptyBody().put("endpoint", endpoint), "headers", headers);
    }
}
