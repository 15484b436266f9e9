package io.carillon.cli.remote;

import io.carillon.cli.client.Client;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code carillon webhook}. */
@Command(
        name = "webhook",
        description = "Try webhooks, and look after what their secrets are sealed with.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class WebhookCommands extends RemoteGroup {
    WebhookCommands(Shell shell) {
        super(shell);
    }

    @Command(description = "Send a webhook once, now. Exit code 0: it was taken, 10: it was not.", sortOptions = false)
    int test(
            @Parameters(paramLabel = "URL") String url,
            @Mixin WebhookForm form,
            @Option(names = "--payload", paramLabel = "JSON", description = "The body; @FILE reads a file.") @Nullable
                    String payload) {
        ObjectNode body = body();
        body.set("target", form.json(url));
        if (payload != null) body.set("payload", Json.typed("--payload", payload));
        return delivered(client().post("/v1/webhooks/test", body));
    }

    private int delivered(JsonNode delivery) {
        printer().done(sentence(delivery), delivery, "verdict");
        return isTaken(delivery) ? ExitCode.OK : ExitCode.RUN_FAILED;
    }

    static boolean isTaken(JsonNode delivery) {
        String verdict = delivery.path("verdict").stringValue("");
        return verdict.equals("delivered") || verdict.equals("accepted");
    }

    /** For people. */
    static String sentence(JsonNode delivery) {
        String verdict = delivery.path("verdict").stringValue("");
        String why = isTaken(delivery)
                ? "status " + delivery.path("status")
                : delivery.path("note").stringValue("status " + delivery.path("status"));
        return "%s: %s, after %s ms.".formatted(verdict, why, delivery.path("millis"));
    }

    @Command(
            name = "re-encrypt",
            description =
                    "Seal the secrets of all projects with the first master key of the server. It may be stopped and repeated.",
            sortOptions = false)
    int reEncrypt() {
        Client client = client();
        ObjectNode request = body();
        ObjectNode sum = body();
        long done = 0;
        long unreadable = 0;
        while (true) {
            JsonNode answer = client.post("/v1/secrets:re-encrypt", request);
            done += answer.path("done").longValue(0);
            unreadable += answer.path("unreadable").longValue(0);
            String next = answer.path("next").stringValue("");
            if (next.isEmpty()) break;
            request.put("after", next);
        }
        sum.put("done", done).put("unreadable", unreadable);
        printer().done("%d secrets were sealed anew; %d cannot be opened.".formatted(done, unreadable), sum, "done");
        return unreadable == 0 ? ExitCode.OK : ExitCode.PARTLY;
    }
}
