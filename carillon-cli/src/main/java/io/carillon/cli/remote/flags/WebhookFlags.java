package io.carillon.cli.remote.flags;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** The options of a webhook. {@code --target} allows settings that have no option. */
public final class WebhookFlags {
    @Option(names = "--method", paramLabel = "METHOD", description = "HTTP method. Default: POST.")
    private @Nullable String method;

    @Option(names = "--header", paramLabel = "NAME=VALUE", description = "Header to send. Can be repeated.")
    private Map<String, String> headers = new LinkedHashMap<>();

    @Option(
            names = "--secret-header",
            paramLabel = "NAME=SECRET",
            description = "Header whose value is the secret of this name. Can be repeated.")
    private Map<String, String> secretHeaders = new LinkedHashMap<>();

    @Option(names = "--secret", paramLabel = "NAME", description = "Name of the secret that signs the request.")
    private @Nullable String secret;

    @Option(
            names = "--callback",
            paramLabel = "DURATION",
            description = "Maximum time until the callback of a receiver that answers 202.")
    private @Nullable String callback;

    boolean isEmpty() {
        return method == null && secret == null && callback == null && headers.isEmpty() && secretHeaders.isEmpty();
    }

    /** Returns the target that calls this URL. */
    public ObjectNode json(String url) {
        ObjectNode target = JsonBody.emptyBody().put("url", url);
        JsonBody.putIfGiven(target, "method", method);
        JsonBody.putIfGiven(target, "secret", secret);
        JsonBody.putIfGiven(target, "callback", callback);
        if (!headers.isEmpty()) headers.forEach(target.putObject("headers")::put);
        if (!secretHeaders.isEmpty()) secretHeaders.forEach(target.putObject("secretHeaders")::put);
        return target;
    }
}
