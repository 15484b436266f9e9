package io.carillon.cli.remote;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** How a webhook is called, by flags. What these do not say, {@code --target} does. */
final class WebhookForm {
    @Option(names = "--method", paramLabel = "WORD", description = "How the URL is called. Default: POST.")
    private @Nullable String method;

    @Option(names = "--header", paramLabel = "NAME=VALUE", description = "A header to send; may be repeated.")
    private Map<String, String> headers = new LinkedHashMap<>();

    @Option(
            names = "--secret-header",
            paramLabel = "NAME=SECRET",
            description = "A header whose value is a secret, by the secret's name; may be repeated.")
    private Map<String, String> secretHeaders = new LinkedHashMap<>();

    @Option(names = "--secret", paramLabel = "NAME", description = "Sign with the secret of this name.")
    private @Nullable String secret;

    @Option(
            names = "--callback",
            paramLabel = "LENGTH",
            description = "How long a receiver that answers 202 may take to call back.")
    private @Nullable String callback;

    boolean isEmpty() {
        return method == null && secret == null && callback == null && headers.isEmpty() && secretHeaders.isEmpty();
    }

    /** The target that calls this URL. */
    ObjectNode json(String url) {
        ObjectNode target = RemoteGroup.body().put("url", url);
        RemoteGroup.with(target, "method", method);
        RemoteGroup.with(target, "secret", secret);
        RemoteGroup.with(target, "callback", callback);
        if (!headers.isEmpty()) headers.forEach(target.putObject("headers")::put);
        if (!secretHeaders.isEmpty()) secretHeaders.forEach(target.putObject("secretHeaders")::put);
        return target;
    }
}
