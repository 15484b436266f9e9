package io.carillon.cli.remote;

import io.carillon.cli.shell.UsageException;
import io.carillon.run.Priority;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Overlap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A schedule, by flags: when, what, and how it behaves. */
final class ScheduleForm {
    @Mixin
    private WhenForm when = new WhenForm();

    @Option(names = "--handler", paramLabel = "NAME", description = "The handler that does the work.")
    private @Nullable String handler;

    @Mixin
    private TargetForm target = new TargetForm();

    @Option(
            names = "--payload",
            paramLabel = "JSON",
            description = "What each run carries; @FILE reads a file. Default: {}.")
    private @Nullable String payload;

    @Option(
            names = "--queue",
            paramLabel = "NAME",
            description = "Queue of its runs. Default: the name of the handler.")
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

    @Option(
            names = "--catch-up",
            paramLabel = "LENGTH",
            description = "How far back missed instants are made up for; 24h unless said.")
    private @Nullable String catchUp;

    @Option(
            names = "--missed-cap",
            paramLabel = "N",
            description = "With --missed run-all: no more late runs at a time; 100 unless said.")
    private @Nullable Integer missedCap;

    @Option(
            names = "--missed-spread",
            paramLabel = "LENGTH",
            description = "With --missed run-all: how far apart late runs fall due.")
    private @Nullable String missedSpread;

    @Option(names = "--pause-after", paramLabel = "N", description = "Pause after so many dead runs in a row.")
    private @Nullable Integer pauseAfter;

    /** Whether nothing was said that would make a schedule. */
    boolean isEmpty() {
        return when.hasNoTiming() && handler == null && target.isEmpty();
    }

    ObjectNode json() {
        ObjectNode body = RemoteGroup.body();
        body.set("when", when.json());
        if (handler == null && target.isEmpty()) target.json(null, "--handler");
        return over(body);
    }

    /** What was said put in the place of what is there. */
    ObjectNode over(ObjectNode body) {
        when.over(body.get("when") instanceof ObjectNode before ? before : body.putObject("when"));
        if (handler != null || !target.isEmpty()) body.set("target", target.json(handler, "--handler"));
        if (payload != null) body.set("payload", Json.typed("--payload", payload));
        RemoteGroup.with(body, "queue", queue);
        RemoteGroup.with(body, "priority", Words.one("--priority", priority, Priority.class));
        RemoteGroup.with(body, "missed", Words.one("--missed", missed, Missed.class));
        RemoteGroup.with(body, "overlap", Words.one("--overlap", overlap, Overlap.class));
        RemoteGroup.with(body, "grace", grace);
        RemoteGroup.with(body, "catchUp", catchUp);
        if (missedCap != null) body.put("missedCap", missedCap);
        RemoteGroup.with(body, "missedSpread", missedSpread);
        if (pauseAfter != null) body.put("pauseAfter", pauseAfter);
        return body;
    }

    /** Refuses to replace policies that the server cannot read by defaults. */
    void replaces(JsonNode there) {
        if (!there.has("unreadable")) return;
        require(there, "missed", missed);
        require(there, "overlap", overlap);
    }

    private static void require(JsonNode there, String policy, @Nullable String given) {
        if (given != null || there.has(policy)) return;
        throw new UsageException("The policy %s of this schedule is '%s', which this version does not know. Give --%s."
                .formatted(
                        policy,
                        there.path("unreadable").path("stored").path(policy).asString(""),
                        policy));
    }
}
