package io.carillon.cli.remote;

import static io.carillon.cli.remote.flags.JsonBody.emptyBody;

import io.carillon.cli.remote.flags.JsonInput;
import io.carillon.cli.remote.flags.WebhookFlags;
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
        description = "Test webhooks to any URL. For endpoints see '${ROOT-COMMAND-NAME} endpoint'.",
        synopsisSubcommandLabel = "COMMAND",
        sortOptions = false)
final class WebhookCommands extends RemoteCommandGroup {
    WebhookCommands(Shell shell) {
        super(shell);
    }

    @Command(
            description = "Send a webhook without secrets once, now. Exit code 0: delivered or accepted, 10: not.",
            sortOptions = false)
    int test(
            @Parameters(paramLabel = "URL") String url,
            @Mixin WebhookFlags flags,
            @Option(names = "--payload", paramLabel = "JSON", description = "Request body; @FILE reads a file.")
                    @Nullable
                    String payload) {
        ObjectNode body = emptyBody();
        body.set("target", flags.json(url));
        if (payload != null) body.set("payload", JsonInput.parseOrReadFile("--payload", payload));
        return reportDelivery(client().post("/v1/webhooks/test", body));
    }

    private int reportDelivery(JsonNode delivery) {
        printer().printResult(sentence(delivery), delivery, "verdict");
        return isAccepted(delivery) ? ExitCode.OK : ExitCode.RUN_FAILED;
    }

    static boolean isAccepted(JsonNode delivery) {
        String verdict = delivery.path("verdict").stringValue("");
        return verdict.equals("delivered") || verdict.equals("accepted");
    }

    /** Returns a sentence about the delivery. */
    static String sentence(JsonNode delivery) {
        String verdict = delivery.path("verdict").stringValue("");
        String why = isAccepted(delivery)
                ? "status " + delivery.path("status")
                : delivery.path("note").stringValue("status " + delivery.path("status"));
        return "%s: %s, after %s ms.".formatted(verdict, why, delivery.path("millis"));
    }
}
