package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;
import static io.carillon.cli.remote.flags.JsonBody.putIfGiven;

import io.carillon.cli.answer.EndpointPrinter;
import io.carillon.cli.client.ApiClient;
import io.carillon.cli.remote.flags.EndpointFlags;
import io.carillon.cli.remote.flags.JsonBody;
import io.carillon.cli.remote.flags.JsonInput;
import io.carillon.cli.remote.flags.ListFlags;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Program;
import io.carillon.cli.shell.SecretFiles;
import io.carillon.cli.shell.Shell;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon endpoint}. */
@Command(
        name = "endpoint",
        description = "Create, change, test and delete the endpoints that webhooks call, with their secrets.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class EndpointCommands extends RemoteCommandGroup {
    private static final String TO_DESCRIPTION =
            "File for the generated secret or public key, readable only by you. It is then not printed.";
    private static final List<String> COLUMNS = List.of("name", "url", "method", "queue", "updatedAt");
    private static final List<String> READ_ONLY_FIELDS =
            List.of("name", "version", "queue", "paused", "secrets", "createdAt", "createdBy", "updatedAt");

    EndpointCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Create an endpoint. Generated secrets are printed only once.", sortOptions = false)
    int create(
            @Parameters(paramLabel = "NAME", description = "Name of the endpoint.") String name,
            @Parameters(paramLabel = "URL") String url,
            @Mixin EndpointFlags flags,
            @Option(names = "--to", paramLabel = "FILE", description = TO_DESCRIPTION) @Nullable String to) {
        ObjectNode body = flags.applyTo(emptyBody().put("name", name).put("url", url), List.of());
        JsonNode made = client().post("/v1/endpoints", body);
        int code = printer("Created %s.".formatted(name)).show(made, secret -> true, to);
        if (printer().isTable()) {
            if (made.path("secrets").isEmpty())
                shell.err()
                        .println(Program.inText(
                                "Its messages are not signed. 'carillon endpoint update %s --secret main' "
                                                .formatted(name)
                                        + "adds a secret."));
            shell.err().println(Program.inText("'carillon endpoint test %s' sends a message now.".formatted(name)));
        }
        return code;
    }

    @Command(description = "List endpoints. The values of secrets are not shown.", sortOptions = false)
    int list(@Mixin ListFlags flags) {
        return list(flags, "/v1/endpoints", "name", COLUMNS);
    }

    @Command(description = "Show an endpoint. The values of its secrets are not shown.", sortOptions = false)
    int get(
            @Parameters(paramLabel = "NAME", description = "Name of the endpoint.") String name,
            @Option(names = "--watch", description = "Print again on each change, until Ctrl-C.") boolean watch) {
        return showItem(watch, "name", "endpoints", name);
    }

    @Command(
            description = "Change an endpoint. What is not given stays as it is. A URL with another scheme, host or "
                    + "port requires all secrets again.",
            sortOptions = false)
    int update(
            @Parameters(paramLabel = "NAME", description = "Name of the endpoint.") String name,
            @Parameters(paramLabel = "URL", arity = "0..1", description = "New URL.") @Nullable String url,
            @Mixin EndpointFlags flags,
            @Option(names = "--to", paramLabel = "FILE", description = TO_DESCRIPTION) @Nullable String to) {
        ApiClient apiClient = client();
        JsonNode there = apiClient.get(ApiClient.path("endpoints", name));
        ObjectNode body = (ObjectNode) there.deepCopy();
        READ_ONLY_FIELDS.forEach(body::remove);
        putIfGiven(body, "url", url);
        // With a new URL the server must see which secrets are given again: none is kept.
        flags.applyTo(body, url == null ? there.path("secrets") : List.of());
        JsonNode changed = apiClient
                .put(ApiClient.path("endpoints", name), body, Map.of("If-Match", "\"" + there.path("version") + "\""))
                .body();
        List<JsonNode> before = there.path("secrets")
                .valueStream()
                .map(secret -> secret.path("publicKey"))
                .toList();
        return printer("Changed %s.".formatted(name))
                .show(changed, secret -> !before.contains(secret.path("publicKey")), to);
    }

    @Command(
            description = "Replace a secret by a generated or an existing one. An old signing secret also signs for "
                    + "the time of --overlap.",
            sortOptions = false)
    int rotate(
            @Parameters(paramLabel = "NAME", description = "Name of the endpoint.") String name,
            @Option(
                            names = "--secret",
                            paramLabel = "NAME",
                            description = "Secret to replace. Default: the only secret of the endpoint.")
                    @Nullable
                    String secret,
            @Option(
                            names = "--overlap",
                            paramLabel = "DURATION",
                            description = "Time for which the old secret also signs. Default: 24h.")
                    @Nullable
                    String overlap,
            @Option(
                            names = "--from",
                            paramLabel = "FILE",
                            description = "File with the new secret, instead of a generated signing secret; - is "
                                    + "standard input.")
                    @Nullable
                    String from,
            @Option(
                            names = "--algorithm",
                            paramLabel = "ALGORITHM",
                            description = "Algorithm of a generated secret: ed25519 or hmac-sha256. Default: that of "
                                    + "the old secret.")
                    @Nullable
                    String algorithm,
            @Option(names = "--to", paramLabel = "FILE", description = TO_DESCRIPTION) @Nullable String to) {
        ObjectNode body = putIfGiven(putIfGiven(emptyBody(), "secret", secret), "overlap", overlap);
        putIfGiven(body, "algorithm", algorithm);
        if (from != null) body.put("value", SecretFiles.read("--from", from));
        return printer("Rotated a secret of %s.".formatted(name))
                .show(
                        client().post(ApiClient.path("endpoints", name, "rotate"), body),
                        rotated -> secret == null
                                || rotated.path("name").stringValue("").equals(secret),
                        to);
    }

    @Command(
            description = "Delete an endpoint and its secrets. Refused while schedules or runs use it.",
            sortOptions = false)
    int delete(
            @Parameters(paramLabel = "NAME", description = "Name of the endpoint.") String name,
            @Option(
                            names = "--force",
                            description = "Pause the schedules and the queue of the endpoint, and delete it.")
                    boolean force) {
        String path = ApiClient.path("endpoints", name);
        return deleteItem("Deleted %s.".formatted(name), "name", name, force ? path + "?force=true" : path);
    }

    @Command(
            description = "Send a message to an endpoint once, now. Exit code 0: delivered or accepted, 10: not.",
            sortOptions = false)
    int test(
            @Parameters(paramLabel = "NAME", description = "Name of the endpoint.") String name,
            @Option(names = "--header", paramLabel = "NAME=VALUE", description = "Header to send. Can be repeated.")
                    @Nullable
                    Map<String, String> headers,
            @Option(names = "--payload", paramLabel = "JSON", description = "Request body; @FILE reads a file.")
                    @Nullable
                    String payload) {
        ObjectNode body = emptyBody();
        ObjectNode target = body.putObject("target").put("endpoint", name);
        if (headers != null) JsonBody.putTexts(target, "headers", headers);
        if (payload != null) body.set("payload", JsonInput.parseOrReadFile("--payload", payload));
        JsonNode delivery = client().post("/v1/webhooks/test", body);
        printer().printResult(WebhookCommands.sentence(delivery), delivery, "verdict");
        return WebhookCommands.isAccepted(delivery) ? ExitCode.OK : ExitCode.RUN_FAILED;
    }

    @Command(
            name = "re-encrypt",
            description = "Encrypt the secrets of all projects with the first master key of the server. Can be "
                    + "interrupted and repeated.",
            sortOptions = false)
    int reEncrypt() {
        ApiClient apiClient = client();
        ObjectNode request = emptyBody();
        long done = 0;
        long unreadable = 0;
        while (true) {
            JsonNode answer = apiClient.post("/v1/endpoints:re-encrypt", request);
            done += answer.path("done").longValue(0);
            unreadable += answer.path("unreadable").longValue(0);
            String next = answer.path("next").stringValue("");
            if (next.isEmpty()) break;
            request.put("after", next);
        }
        printer()
                .printResult(
                        "%d secrets were re-encrypted; %d cannot be decrypted.".formatted(done, unreadable),
                        emptyBody().put("done", done).put("unreadable", unreadable),
                        "done");
        return unreadable == 0 ? ExitCode.OK : ExitCode.PARTIAL;
    }

    private EndpointPrinter printer(String sentence) {
        return new EndpointPrinter(shell, printer(), sentence);
    }
}
