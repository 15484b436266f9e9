package io.carillon.cli.remote;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** A schedule, by flags: when, what, and how it behaves. */
final class ScheduleForm {
    @Mixin
    private WhenForm when = new WhenForm();

    @Option(names = "--handler", paramLabel = "NAME", description = "The handler that does the work.")
    private @Nullable String handler;

    @Option(names = "--webhook", paramLabel = "URL", description = "Call this URL instead.")
    private @Nullable String webhook;

    @Mixin
    private WebhookForm how = new WebhookForm();

    @Option(names = "--target", paramLabel = "JSON", description = "What to do, where flags do not say it.")
    private @Nullable String target;

    @Option(
            names = "--payload",
            paramLabel = "JSON",
            description = "What each run carries; @FILE reads a file. Default: {}.")
    private @Nullable String payload;

    @Option(names = "--queue", paramLabel = "NAME", description = "Queue of its runs.")
    private @Nullable String queue;

    @Option(names = "--priority", paramLabel = "high|normal|low|bulk", description = "Priority of its runs.")
    private @Nullable String priority;

    @Option(
            names = "--missed",
            paramLabel = "run-once|run-all|skip",
            description = "What becomes of instants nobody could start in time.")
    private @Nullable String missed;

    @Option(
            names = "--overlap",
            paramLabel = "POLICY",
            description =
                    "What happens while an earlier run has not ended: allow, skip, queue-one, queue-all or cancel-previous.")
    private @Nullable String overlap;

    @Option(names = "--grace", paramLabel = "LENGTH", description = "How late a run may start before it is missed.")
    private @Nullable String grace;

    @Option(names = "--pause-after", paramLabel = "N", description = "Pause after so many dead runs in a row.")
    private @Nullable Integer pauseAfter;

    boolean isEmpty() {
        return when.isEmpty() && handler == null && webhook == null && target == null;
    }

    ObjectNode json() {
        ObjectNode body = RemoteGroup.body();
        body.set("when", when.json());
        body.set("target", TargetForm.json(handler, webhook == null ? null : how.json(webhook), target));
        if (payload != null) body.set("payload", Json.typed("--payload", payload));
        RemoteGroup.with(body, "queue", queue);
        RemoteGroup.with(body, "priority", priority);
        RemoteGroup.with(body, "missed", missed);
        RemoteGroup.with(body, "overlap", overlap);
        RemoteGroup.with(body, "grace", grace);
        if (pauseAfter != null) body.put("pauseAfter", pauseAfter);
        return body;
    }
}
