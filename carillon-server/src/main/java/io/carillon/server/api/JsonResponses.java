package io.carillon.server.api;

import io.carillon.QueueInfo;
import io.carillon.internal.value.PublicId;
import io.carillon.internal.value.Years;
import io.carillon.run.AttemptRecord;
import io.carillon.run.Payload;
import io.carillon.run.Priority;
import io.carillon.run.Run;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.schedule.LedgerEntry;
import io.carillon.schedule.Preview;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.ScheduleDefinition;
import io.carillon.schedule.ScheduleId;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.SearchBudget;
import io.carillon.schedule.When;
import io.carillon.server.endpoint.WebhookTargetJson;
import io.carillon.server.http.Json;
import io.carillon.server.http.JsonFields;
import io.carillon.server.http.JsonObject;
import io.carillon.server.store.ApiKey;
import io.carillon.webhook.Delivery;
import io.carillon.webhook.WebhookTarget;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Converts values to the JSON of responses. */
final class JsonResponses {
    private static final int NEXT_RUNS = 5;

    private JsonResponses() {}

    /** Converts a schedule; {@code now} is the database time, from which its next runs are computed. */
    static JsonObject schedule(Schedule schedule, Instant now, SearchBudget budget) {
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
                                .orElseGet(() -> target(runTemplate.targetKind(), runTemplate.targetName())))
                .put("payload", webhook.isPresent() ? null : payload(payload))
                .put("queue", runTemplate.queue())
                .put("priority", JsonFields.enumText(Priority.of(runTemplate.priority())));
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
                .put("nextAfterPlanned", next.equals(Instant.MAX) ? null : next)
                .put("nextRuns", pause == null ? nextInstants(schedule, now, budget) : List.of())
                .put("lastRun", lastRun(schedule.metadata().lastRun()))
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

    private static List<String> nextInstants(Schedule schedule, Instant now, SearchBudget budget) {
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
                        .put("zone", every.interval().start().getZone().getId());
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
                .put("zone", preview.zone().getId())
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

    /** Converts a JSON payload to JSON; for any other codec, shows only the codec and the size. */
    static @Nullable Object payload(@Nullable Payload payload) {
        if (payload == null) return null;
        if (payload.codec().equals("json"))
            return Json.parseStored(payload.bytes()).orElse(null);
        return new JsonObject().put("codec", payload.codec()).put("bytes", payload.bytes().length);
    }

    static JsonObject run(Run run) {
        Run.Instants instants = run.instants();
        Run.Details details = run.details();
        JsonObject delivery = delivery(details.delivery(), details.log());
        boolean logged = delivery != null && details.delivery() == null;
        return new JsonObject()
                .put("id", run.id().toString())
                .put("state", run.state().text())
                .put("queue", run.queue())
                .put("priority", JsonFields.enumText(run.priority()))
                .put("origin", run.origin().text())
                .put("target", target(run.target().kind(), run.target().name()))
                .put("attempt", run.attempt())
                .put("failures", run.failures())
                .put("crashes", run.crashes())
                .put("createdAt", instants.createdAt())
                .put("dueAt", instants.dueAt())
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
                .put("log", logged ? null : details.log())
                .put("delivery", delivery)
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
                .put("node", PublicId.format("nod", attempt.node()))
                .put("startedAt", attempt.startedAt())
                .put("endedAt", attempt.endedAt())
                .put("outcome", attempt.outcome())
                .put("error", attempt.error())
                .put("retryDelay", attempt.retryDelay())
                .put("delivery", delivery(attempt.delivery(), attempt.log()));
    }

    /**
     * Returns the delivery of a run or attempt; null if there is none. Earlier versions stored deliveries in the log.
     */
    private static @Nullable JsonObject delivery(@Nullable String kept, @Nullable String log) {
        return Delivery.parse(kept)
                .or(() -> Delivery.parse(log))
                .map(JsonResponses::delivery)
                .orElse(null);
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
                .put("late", entry.lateness().orElse(null));
    }

    static JsonObject queue(QueueInfo queue) {
        QueueInfo.Pause pause = queue.pause();
        QueueInfo.Breaker breaker = queue.breaker();
        return new JsonObject()
                .put("name", queue.name())
                .put("waiting", queue.waiting())
                .put("running", queue.running())
                .put("maxRunning", queue.limits().maxRunning())
                .put("perSecond", queue.limits().perSecond())
                .put("weight", queue.weight())
                .put(
                        "breaker",
                        breaker == null
                                ? null
                                : new JsonObject().put("state", breaker.state()).put("until", breaker.until()))
                .put(
                        "paused",
                        pause == null
                                ? null
                                : new JsonObject()
                                        .put("at", pause.at())
                                        .put("by", pause.by())
                                        .put("reason", pause.reason()));
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
                .put("revokedAt", key.revokedAt())
                .put("usedAt", key.usedAt());
    }

    static List<String> states() {
        return java.util.Arrays.stream(RunState.values()).map(RunState::text).toList();
    }
}
