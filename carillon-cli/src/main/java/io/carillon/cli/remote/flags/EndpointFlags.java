package io.carillon.cli.remote.flags;

import io.carillon.cli.shell.SecretFiles;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The options of an endpoint: how it is called, the retries of its runs, its secrets, and the limits of its queue. */
public final class EndpointFlags {
    @Option(names = "--method", paramLabel = "METHOD", description = "HTTP method. Default: POST.")
    private @Nullable String method;

    @Option(names = "--header", paramLabel = "NAME=VALUE", description = "Header of every request. Can be repeated.")
    private Map<String, String> headers = new LinkedHashMap<>();

    @Option(
            names = "--success",
            paramLabel = "STATUS",
            split = ",",
            description = "Status codes that mean success, such as 200,204. Default: 200 to 299.")
    private List<Integer> success = List.of();

    @Option(
            names = "--callback",
            paramLabel = "DURATION",
            description = "Maximum time until the callback of a receiver that answers 202.")
    private @Nullable String callback;

    @Option(
            names = "--total-timeout",
            paramLabel = "DURATION",
            description = "Maximum time of a request. Default: 15s.")
    private @Nullable String total;

    @Option(names = "--connect-timeout", paramLabel = "DURATION", description = "Maximum time to connect. Default: 5s.")
    private @Nullable String connect;

    @Mixin
    private RetryFlags retry = new RetryFlags();

    @Option(
            names = "--secret",
            paramLabel = "NAME",
            description = "Signing secret of this name, generated and printed only once. Can be repeated.")
    private List<String> generated = List.of();

    @Option(
            names = "--algorithm",
            paramLabel = "ALGORITHM",
            description = "Algorithm of the secrets of --secret: ed25519, whose public key is printed, or hmac-sha256. "
                    + "Default: hmac-sha256.")
    private @Nullable String algorithm;

    @Option(
            names = "--secret-from",
            paramLabel = "NAME=FILE",
            description = "Signing secret of this name, read from a file; - is standard input. Can be repeated.")
    private Map<String, String> signing = new LinkedHashMap<>();

    @Option(
            names = "--secret-header",
            paramLabel = "HEADER=FILE",
            description = "Header whose value is the secret in a file; - is standard input. Can be repeated.")
    private Map<String, String> secretHeaders = new LinkedHashMap<>();

    @Option(names = "--running", paramLabel = "N", description = "Maximum number of runs at a time.")
    private @Nullable Integer running;

    @Option(names = "--per-second", paramLabel = "RATE", description = "Maximum number of starts per second.")
    private @Nullable Double rate;

    /** Returns whether a secret is given. */
    public boolean hasSecrets() {
        return !generated.isEmpty() || !signing.isEmpty() || !secretHeaders.isEmpty();
    }

    /**
     * Sets the given options in a body.
     *
     * @param kept the secrets that stay unless an option replaces them
     */
    public ObjectNode applyTo(ObjectNode body, Iterable<JsonNode> kept) {
        JsonBody.putIfGiven(body, "method", method);
        JsonBody.putIfGiven(body, "callback", callback);
        JsonBody.putTexts(body, "headers", headers);
        if (!success.isEmpty()) success.forEach(body.putArray("success")::add);
        if (total != null || connect != null) {
            ObjectNode timeouts =
                    body.get("timeouts") instanceof ObjectNode before ? before : body.putObject("timeouts");
            JsonBody.putIfGiven(timeouts, "total", total);
            JsonBody.putIfGiven(timeouts, "connect", connect);
        }
        retry.applyTo(body);
        if (hasSecrets()) putSecrets(body.putArray("secrets"), kept);
        if (running != null || rate != null) {
            ObjectNode limits = body.putObject("limits");
            if (running != null) limits.put("maxRunning", running);
            if (rate != null) limits.put("perSecond", rate);
        }
        return body;
    }

    private void putSecrets(ArrayNode all, Iterable<JsonNode> kept) {
        Map<String, ObjectNode> byName = new LinkedHashMap<>();
        for (JsonNode secret : kept) {
            String name = secret.path("name").stringValue("");
            ObjectNode entry = JsonBody.emptyBody().put("name", name);
            byName.put(
                    name,
                    JsonBody.putIfGiven(entry, "header", secret.path("header").stringValue(null)));
        }
        for (String name : generated)
            byName.put(name, JsonBody.putIfGiven(JsonBody.emptyBody().put("name", name), "algorithm", algorithm));
        signing.forEach((name, file) -> byName.put(
                name, JsonBody.emptyBody().put("name", name).put("value", SecretFiles.read("--secret-from", file))));
        // The header is also the name of the secret.
        secretHeaders.forEach((header, file) -> {
            String name = header.toLowerCase(Locale.ROOT);
            byName.put(
                    name,
                    JsonBody.emptyBody()
                            .put("name", name)
                            .put("header", header)
                            .put("value", SecretFiles.read("--secret-header", file)));
        });
        byName.values().forEach(all::add);
    }
}
