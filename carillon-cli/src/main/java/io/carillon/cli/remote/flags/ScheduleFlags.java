package io.carillon.cli.remote.flags;

import io.carillon.cli.shell.UsageException;
import io.carillon.run.Priority;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.OverlapPolicy;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The options of a schedule: timing, target and policies. */
public final class ScheduleFlags {
    @Mixin
    private WhenFlags when = new WhenFlags();

    @Option(names = "--handler", paramLabel = "NAME", description = "Handler that executes the runs.")
    private @Nullable String handler;

    @Mixin
    private TargetFlags target = new TargetFlags();

    @Option(
            names = "--payload",
            paramLabel = "JSON",
            description = "Payload of each run; @FILE reads a file. Default: {}.")
    private @Nullable String payload;

    @Option(
            names = "--queue",
            paramLabel = "NAME",
            description = "Queue of the runs. Default: the name of the handler.")
    private @Nullable String queue;

    @Option(names = "--priority", paramLabel = "high|normal|low|bulk", description = "Priority of the runs.")
    private @Nullable String priority;

    @Mixin
    private RetryFlags retry = new RetryFlags();

    @Option(
            names = "--attempt-timeout",
            paramLabel = "DURATION",
            description = "Maximum time of an attempt. Default: that of the handler.")
    private @Nullable String timeout;

    @Option(
            names = "--missed",
            paramLabel = "run-once|run-all|skip",
            description = "Policy for instants that could not start in time. Default: run-once.")
    private @Nullable String missed;

    @Option(
            names = "--overlap",
            paramLabel = "POLICY",
            description =
                    "Policy while an earlier run has not ended: allow, skip, queue-one, queue-all or cancel-previous. "
                            + "Default: allow.")
    private @Nullable String overlap;

    @Option(
            names = "--grace",
            paramLabel = "DURATION",
            description = "An instant that does not start within this time is missed, and --missed decides about it. "
                    + "Default: 5m.")
    private @Nullable String grace;

    @Option(
            names = "--catch-up",
            paramLabel = "DURATION",
            description = "Maximum age of missed instants that are caught up. Default: 24h.")
    private @Nullable String catchUp;

    @Option(
            names = "--missed-cap",
            paramLabel = "N",
            description = "With --missed run-all: maximum number of late runs at a time. Default: 100.")
    private @Nullable Integer missedCap;

    @Option(
            names = "--missed-spread",
            paramLabel = "DURATION",
            description = "With --missed run-all: time between the due times of late runs.")
    private @Nullable String missedSpread;

    @Option(
            names = "--pause-after",
            paramLabel = "N",
            description = "Pause the schedule after this many dead runs in a row.")
    private @Nullable Integer pauseAfter;

    /** Returns whether neither a timing nor a target was given. */
    public boolean isEmpty() {
        return when.hasNoTiming() && handler == null && target.isEmpty();
    }

    public ObjectNode json() {
        ObjectNode body = JsonBody.emptyBody();
        body.set("when", when.json());
        if (handler == null && target.isEmpty()) target.json(null, "--handler");
        return applyTo(body);
    }

    /** Replaces the fields for which an option was given. */
    public ObjectNode applyTo(ObjectNode body) {
        when.applyTo(body.get("when") instanceof ObjectNode before ? before : body.putObject("when"));
        if (handler != null || !target.isEmpty()) replaceTarget(body, target.json(handler, "--handler"));
        if (payload != null) body.set("payload", JsonInput.parseOrReadFile("--payload", payload));
        JsonBody.putIfGiven(body, "queue", queue);
        JsonBody.putIfGiven(body, "priority", AllowedValues.require("--priority", priority, Priority.class));
        retry.applyTo(body);
        JsonBody.putIfGiven(body, "timeout", timeout);
        JsonBody.putIfGiven(body, "missed", AllowedValues.require("--missed", missed, MissedPolicy.class));
        JsonBody.putIfGiven(body, "overlap", AllowedValues.require("--overlap", overlap, OverlapPolicy.class));
        JsonBody.putIfGiven(body, "grace", grace);
        JsonBody.putIfGiven(body, "catchUp", catchUp);
        if (missedCap != null) body.put("missedCap", missedCap);
        JsonBody.putIfGiven(body, "missedSpread", missedSpread);
        if (pauseAfter != null) body.put("pauseAfter", pauseAfter);
        return body;
    }

    /** Sets the target. The queue of an endpoint belongs to this endpoint only, so another target does not keep it. */
    private static void replaceTarget(ObjectNode body, JsonNode target) {
        if (target.has("endpoint") || body.path("target").has("endpoint")) body.remove("queue");
        body.set("target", target);
    }

    /**
     * Throws if the server cannot read a stored policy and no option replaces it: the update would replace it
     * with a default.
     */
    public void requireReplacements(JsonNode there) {
        if (!there.has("unreadable")) return;
        requireFlag(there, "missed", missed);
        requireFlag(there, "overlap", overlap);
    }

    private static void requireFlag(JsonNode there, String policy, @Nullable String given) {
        if (given != null || there.has(policy)) return;
        throw new UsageException(
                "The policy %s of this schedule is '%s', which this version does not support. Give --%s."
                        .formatted(
                                policy,
                                there.path("unreadable")
                                        .path("stored")
                                        .path(policy)
                                        .asString(""),
                                policy));
    }
}
