package io.carillon.server.api;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.QueueInfo;
import io.carillon.internal.value.Names;
import io.carillon.internal.value.PublicId;
import io.carillon.internal.value.Years;
import io.carillon.run.AttemptRecord;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.Target;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Preview;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.ScheduleId;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.SearchBudget;
import io.carillon.schedule.When;
import io.carillon.server.endpoint.EndpointJson;
import io.carillon.server.endpoint.RetryJson;
import io.carillon.server.endpoint.WebhookTargetJson;
import io.carillon.server.event.EventTarget;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.redaction.PayloadRedaction;
import io.carillon.server.store.ApiKey;
import io.carillon.webhook.Delivery;
import io.carillon.webhook.WebhookTarget;
import io.carillon.workflow.RecordedStep;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Converts values to the JSON of responses. */
final class JsonResponses {
    private static final int NEXT_RUNS = 5;
    /** About the memory of an entry of a ledger or preview until it was sent. */
    static final long BYTES_OF_ENTRY = 512;

    private JsonResponses() {}

    /**
     * Converts a schedule; {@code now} is the database time, from which its next runs are computed.
     *
     * @throws CarillonException with {@link ErrorCode#SEARCH_TOO_LONG} if the budget is used up
     */
    static JsonObject schedule(Schedule schedule, Instant now, SearchBudget budget) {
        return schedule(schedule, nextRuns(schedule, now, budget));
    }

    /**
     * Like {@link #schedule(Schedule, Instant, SearchBudget)}, but leaves out the next runs if the budget is used up: a
     * schedule can be changed and read although the search for its next runs takes too long.
     */
    static JsonObject singleSchedule(Schedule schedule, Instant now, SearchBudget budget) {
        List<String> nextRuns = null;
        try {
            nextRuns = nextRuns(schedule, now, budget);
        } catch (CarillonException tooLong) {
            if (tooLong.code() != ErrorCode.SEARCH_TOO_LONG) throw tooLong;
        }
        return schedule(schedule, nextRuns);
    }

    private static JsonObject schedule(Schedule schedule, @Nullable List<String> nextRuns) {
        ScheduleDefinition scheduleDefinition = schedule.definition();
        ScheduleDefinition.RunTemplate runTemplate = scheduleDefinition.template();
        SchedulePolicies schedulePolicies = scheduleDefinition.policies();
        When.Timing.Unreadable unreadable = schedule.unreadable();
        Instant next = schedule.planningState().nextAt();
        Schedule.Pause pause = schedule.pause();
        Payload payload = new Payload(runTemplate.payload(), runTemplate.codec());
        Optional<WebhookTarget> webhook =
                WebhookTargetJson.isWebhook(runTemplate.targetKind(), runTemplate.targetName())
                        ? WebhookTargetJson.fromPayload(payload.bytes())
                        : Optional.empty();
        Optional<EventTarget> event =
                EventTarget.of(runTemplate.targetKind(), runTemplate.targetName(), payload.bytes());
        JsonObject jsonObject = new JsonObject()
                .put("name", schedule.name())
                .put("id", schedule.id().toString())
                .put("version", schedule.version())
                .put("when", when(scheduleDefinition.when()))
                .put("description", scheduleDefinition.when().describe())
                .put("unreadable", unreadable == null ? null : unreadable(unreadable))
                .put(
                        "target",
                        webhook.map(WebhookTargetJson::toJson)
                                .or(() -> event.map(EventTarget::toJson))
                                .orElseGet(() -> target(runTemplate.targetKind(), runTemplate.targetName())))
                .put(
                        "payload",
                        webhook.isPresent()
                                ? null
                                : payload(event.map(EventTarget::dataPayload).orElse(payload)))
                .put("queue", runTemplate.queue())
                .put("priority", JsonFields.enumText(Priority.of(runTemplate.priority())))
                .put("retry", RetryJson.toJson(runTemplate.policy().retry()))
                .put("timeout", runTemplate.policy().timeout());
        return jsonObject
                .put(
                        "missed",
                        wordIfKnown(
                                unreadable, "missed", schedulePolicies.missed().text()))
                .put(
                        "overlap",
                        wordIfKnown(
                                unreadable,
                                "overlap",
                                schedulePolicies.overlap().text()))
                .put("grace", schedulePolicies.grace())
                .put("catchUp", schedulePolicies.catchUp())
                .put("missedCap", schedulePolicies.runAll().cap())
                .put("missedSpread", schedulePolicies.runAll().spread())
                .put("pauseAfter", schedulePolicies.pauseAfter())
                .put("ticks", schedule.planningState().ticks())
                .put("plannedUntil", schedule.planningState().cursor())
                .put("nextAfterPlanned", next.equals(Instant.MAX) || pause != null ? null : next)
                .put("nextRuns", nextRuns)
                .put("lastRun", lastRun(schedule.metadata().lastRun()))
                .put("owner", schedule.definition().owner().text())
                .put("createdAt", schedule.metadata().createdAt())
                .put("updatedAt", schedule.metadata().updatedAt())
                .put("paused", pause == null ? null : pause(pause));
    }

    /** Returns the text of a policy; null if the stored text is one that this version does not know. */
    private static @Nullable String wordIfKnown(When.Timing.@Nullable Unreadable unreadable, String name, String word) {
        return unreadable == null || word.equals(unreadable.stored().get(name)) ? word : null;
    }

    private static JsonObject unreadable(When.Timing.Unreadable unreadable) {
        JsonObject stored = new JsonObject();
        unreadable.stored().forEach(stored::put);
        return new JsonObject().put("error", unreadable.error()).put("stored", stored);
    }

    private static @Nullable JsonObject lastRun(Schedule.@Nullable LastRun last) {
        if (last == null) return null;
        return new JsonObject()
                .put("run", new RunId(last.run()).toString())
                .put("state", last.state())
                .put("plannedAt", last.plannedAt())
                .put("startedAt", last.startedAt())
                .put("endedAt", last.endedAt());
    }

    private static List<String> nextRuns(Schedule schedule, Instant now, SearchBudget budget) {
        if (schedule.pause() != null) return List.of();
        When when = schedule.definition().when();
        return when.preview(now, Years.LATEST, NEXT_RUNS, budget).entries().stream()
                .filter(Preview.Entry::willRun)
                .limit(Math.max(schedule.runsLeft(), 1))
                .map(entry -> entry.utc().toString())
                .toList();
    }

    private static JsonObject pause(Schedule.Pause pause) {
        return new JsonObject()
                .put("at", pause.at())
                .put("by", pause.by())
                .put("reason", pause.reason())
                .put("until", pause.until());
    }

    static JsonObject when(When when) {
        JsonObject jsonObject = new JsonObject();
        if (when.timing() instanceof When.Timing.Cron cron)
            jsonObject
                    .put("cron", cron.expression().toString())
                    .put("zone", cron.zone().getId());
        if (when.timing() instanceof When.Timing.Once once) jsonObject.put("once", once.at());
        if (when.timing() instanceof When.Timing.Every every) {
            if (every.adaptive() != null)
                jsonObject.put(
                        "adaptive",
                        new JsonObject()
                                .put("min", every.adaptive().min())
                                .put("max", every.adaptive().max()));
            else
                jsonObject
                        .put(
                                "every",
                                new JsonObject()
                                        .put("amount", every.interval().amount())
                                        .put(
                                                "unit",
                                                every.interval().unit().name().toLowerCase(Locale.ROOT))
                                        .put("start", every.interval().start().toInstant()))
                        .put(
                                "zone",
                                JsonFields.zoneName(every.interval().start().getZone()));
        }
        When.Bounds bounds = when.bounds();
        return jsonObject
                .put("from", bounds.from())
                .put("until", bounds.until())
                .put(
                        "except",
                        bounds.excluded().isEmpty()
                                ? null
                                : bounds.excluded().stream()
                                        .sorted()
                                        .map(Object::toString)
                                        .toList())
                .put("maxRuns", bounds.maxRuns())
                .put("jitter", when.jitter().equals(Duration.ZERO) ? null : when.jitter())
                .put("gap", JsonFields.enumText(when.dst().gap()))
                .put("repeat", JsonFields.enumText(when.dst().repeat()));
    }

    static JsonObject preview(Preview preview) {
        return new JsonObject()
                .put("description", preview.description())
                .put("zone", JsonFields.zoneName(preview.zone()))
                .put(
                        "entries",
                        preview.entries().stream()
                                .map(JsonResponses::previewEntry)
                                .toList())
                .put("warnings", warnings(preview.warnings()));
    }

    /** Returns null if there are no warnings, so that the field is left out. */
    static @Nullable List<String> warnings(List<String> warnings) {
        return warnings.isEmpty() ? null : warnings;
    }

    static JsonObject previewEntry(Preview.Entry entry) {
        return new JsonObject()
                .put("at", entry.utc())
                .put("local", entry.at().toString())
                .put("planned", entry.planned().toString())
                .put("mark", JsonFields.enumText(entry.mark()));
    }

    static JsonObject target(String kind, String name) {
        return new JsonObject().put(kind, name);
    }

    /**
     * Returns the target without reading the payload, which contains that of a webhook: the endpoint to which the queue
     * belongs, or the URL that was called.
     */
    private static JsonObject target(Run run) {
        Target target = run.target();
        if (!WebhookTargetJson.isWebhook(target)) return target(target.kind(), target.name());
        String queue = run.queue();
        if (queue.startsWith(Names.ENDPOINT_QUEUE_PREFIX))
            return new JsonObject().put("endpoint", queue.substring(Names.ENDPOINT_QUEUE_PREFIX.length()));
        return Delivery.parse(run.details().delivery())
                .map(Delivery::url)
                .map(url -> new JsonObject().put("url", url))
                .orElseGet(() -> target(target.kind(), target.name()));
    }

    /** Converts a JSON payload to JSON; for any other codec, shows only the codec and the size. */
    static @Nullable Object payload(@Nullable Payload payload) {
        if (payload == null) return null;
        if (payload.codec().equals("json"))
            return Json.parseStored(payload.bytes()).orElse(null);
        return new JsonObject().put("codec", payload.codec()).put("bytes", payload.bytes().length);
    }

    /** Returns the payload without secrets; for another codec than JSON, the codec and the size. */
    static @Nullable Object redactedPayload(Payload payload) {
        Object json = payload(payload);
        return json instanceof JsonNode node && payload.codec().equals("json") ? PayloadRedaction.redacted(node) : json;
    }

    static JsonObject run(Run run) {
        Run.Instants instants = run.instants();
        Run.Details details = run.details();
        return new JsonObject()
                .put("id", run.id().toString())
                .put("state", run.state().text())
                .put("queue", run.queue())
                .put("priority", JsonFields.enumText(run.priority()))
                .put("origin", run.origin().text())
                .put("target", target(run))
                .put("retry", RetryJson.toJson(details.policy().retry()))
                .put("timeout", details.policy().timeout())
                .put("attempt", run.attempt())
                .put("failures", run.failures())
                .put("lastError", details.lastError())
                .put("crashes", run.crashes())
                .put("createdAt", instants.createdAt())
                .put("dueAt", instants.dueAt())
                .put("readyAt", instants.readyAt())
                .put("plannedAt", instants.plannedAt())
                .put("startedAt", instants.startedAt())
                .put("endedAt", instants.endedAt())
                .put("late", run.lateness().orElse(null))
                .put("schedule", details.schedule() == null ? null : new ScheduleId(details.schedule()).toString())
                .put(
                        "parent",
                        details.parent() == null ? null : details.parent().toString())
                .put("key", details.uniqueKey())
                .put("parked", details.parked())
                .put("reason", details.reason())
                .put("result", payload(details.result()))
                .put("log", details.log())
                .put("delivery", delivery(details.delivery()))
                .put(
                        "progress",
                        details.progress() == null
                                ? null
                                : new JsonObject()
                                        .put("done", details.progress().done())
                                        .put("total", details.progress().total()));
    }

    static JsonObject attempt(AttemptRecord attempt) {
        return new JsonObject()
                .put("attempt", attempt.attempt())
                .put("node", PublicId.ofNode(attempt.node()))
                .put("startedAt", attempt.startedAt())
                .put("endedAt", attempt.endedAt())
                .put("outcome", attempt.outcome())
                .put("error", attempt.error())
                .put("retryDelay", attempt.retryDelay())
                .put("delivery", delivery(attempt.delivery()));
    }

    static JsonObject step(RecordedStep step) {
        Payload value = step.value();
        return new JsonObject()
                .put("position", step.position())
                .put("name", step.name())
                .put("key", step.key())
                .put("kind", step.kind())
                .put("state", JsonFields.enumText(step.state()))
                .put("description", step.description())
                .put("value", value == null ? null : PayloadRedaction.named(step.name(), redactedPayload(value)))
                .put("valueBytes", step.valueBytes() == 0 ? null : step.valueBytes())
                .put("error", step.error())
                .put("attempt", step.attempt())
                .put("recordedAt", step.recordedAt())
                .put("until", step.until());
    }

    /** Returns the delivery of a run or attempt; null if there is none. */
    private static @Nullable JsonObject delivery(@Nullable String recorded) {
        return Delivery.parse(recorded).map(JsonResponses::delivery).orElse(null);
    }

    /** Converts a delivery with the kept part of the response. */
    static JsonObject delivery(Delivery delivery) {
        return new JsonObject()
                .put("verdict", JsonFields.enumText(delivery.verdict()))
                .put("url", delivery.url())
                .put("status", delivery.status() == 0 ? null : delivery.status())
                .put("headers", delivery.headers().isEmpty() ? null : delivery.headers())
                .put("body", delivery.body().isEmpty() ? null : delivery.body())
                .put("note", delivery.note().isEmpty() ? null : delivery.note())
                .put("millis", delivery.millis())
                .put("pause", delivery.pause());
    }

    static JsonObject ledgerEntry(LedgerEntry entry) {
        return new JsonObject()
                .put("from", entry.from())
                .put("to", entry.to())
                .put("count", entry.count())
                .put("state", entry.state())
                .put("reason", entry.reason())
                .put("run", entry.run() == null ? null : entry.run().toString())
                .put("startedAt", entry.startedAt())
                .put("endedAt", entry.endedAt())
                .put("late", entry.lateness().orElse(null));
    }

    static JsonObject queue(QueueInfo queue) {
        QueueInfo.Pause pause = queue.pause();
        QueueInfo.Breaker breaker = queue.breaker();
        return new JsonObject()
                .put("name", queue.name())
                .put("waiting", queue.waiting())
                .put("running", queue.running())
                .put("waitingSince", queue.waitingSince())
                .put("more", !queue.complete())
                .put("maxRunning", queue.limits().maxRunning())
                .put("perSecond", queue.limits().perSecond())
                .put("weight", queue.weight())
                .put(
                        "breaker",
                        breaker == null
                                ? null
                                : new JsonObject().put("state", breaker.state()).put("until", breaker.until()))
                .put("paused", EndpointJson.paused(pause));
    }

    static JsonObject key(ApiKey key) {
        return new JsonObject()
                .put("id", key.id())
                .put("name", key.name())
                .put("scopes", key.scopes())
                .put("bootstrap", key.bootstrap())
                .put("createdAt", key.creation().at())
                .put("createdBy", key.creation().by())
                .put("expiresAt", key.limits().expiresAt())
                .put("addresses", key.limits().addresses())
                .put("queues", key.limits().queues())
                .put("handlers", key.limits().handlers())
                .put("endpoints", key.limits().endpoints())
                .put("revokedAt", key.revokedAt())
                .put("usedAt", key.usedAt());
    }
}
